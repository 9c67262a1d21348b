import math

import numpy as np

from accountlib.checks import UNIT
from accountlib.dominating_pairs import Outcomes


@np.errstate(all="ignore")
def guarantee_group(epsilon: float, delta: float, size: int) -> Outcomes:
    """The worst pair at both ends of a chain of `size` neighbours."""
    steps = np.arange(size + 1.0)
    growth = np.expm1(steps * epsilon) / math.expm1(epsilon or 1.0)
    told = delta * (growth if epsilon > 0 else steps) if delta else 0 * steps
    first = (1 - delta) / (1 + math.exp(epsilon))
    left = first - told[:-1]  # e^((m - 1) epsilon) times the m-th break point
    error = UNIT * (32 + 4 * epsilon * steps)
    wrong = error * told
    up = int(np.count_nonzero(left > 8 * wrong[:-1]))
    down, logs = size - up, np.zeros(0)  # masses under P, least loss first
    if up > down:
        slope = (1 - delta) * math.tanh(epsilon / 2) + delta
        inner = np.arange(up - 1.0, down, -1)
        inner = np.log(slope) - epsilon * inner
        end = math.log(left[up - 1] - 6 * wrong[up - 1]) - (up - 1) * epsilon
        logs = np.concatenate([[end], inner, [end + (up - down) * epsilon]])
    elif up == down and 1 - 2 * told[up] > 16 * wrong[up]:
        rest = math.log(1 - 2 * told[up] - 8 * wrong[up]) - up * epsilon
        logs = np.array([rest])
    loss = epsilon * np.arange(-len(logs) + 1.0, len(logs), 2)
    columns = np.array([loss, 2 * UNIT * np.abs(loss), logs, logs[::-1]])
    rows = [(a, b, c, d) for a, b, c, d in columns.T.tolist()]
    sure, off = float(told[-1]), float(error[min(up + 1, size)])
    if down:
        sure = max(1 - math.fsum(np.exp(logs)), 0.5)
    if delta > 0:
        lost = math.log(sure) - 64 * off
        unsure = math.log(256 * off * sure)  # may tell anything, or nothing
        rows.append((0.0, math.inf, unsure, unsure))
        rows.append((math.inf, 0.0, lost, -math.inf))
        rows.append((-math.inf, 0.0, -math.inf, lost))
    return Outcomes(tuple(sorted(rows)))
