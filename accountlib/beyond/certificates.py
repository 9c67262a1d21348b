# Generated from notebooks/beyond/certificates.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Who makes a certificate, and who is fooled by a forged one?"""

import json
import math
from collections.abc import Sequence

from accountlib.accountant import epsilon
from accountlib.beyond.verify import Verdict, verify
from accountlib.sampling import Adjacency, Release

__all__ = ["TRIES", "step_and_bits", "certificate"]

# --- The rule for step and bits

TRIES = (3e-4, 1), (9e-4, 1), (9e-4, 2), (9e-4, 8), (9e-4, 32), (9e-4, 0.7)


def step_and_bits(top: float, delta: float, count: int) -> tuple[float, int]:
    """A step and a number of bits for a width of about 5e-4."""
    rare, share = math.log(1 / delta), top / count
    bits = (rare + top) / math.log(2) + math.log2(count) + 60
    step = math.sqrt(0.004 * share / (1 + 2 * rare / top))
    if share > 4 * step:  # perhaps the largest loss
        step = share / math.ceil(share / step) * (1 + 1e-11)
    return step, math.ceil(bits)


def certificate(
    releases: Release | Sequence[Release],
    *,
    delta: float,
    adjacency: str,
    group_size: int = 1,
) -> str:
    r"""Two points of a run's curve, in a file that `verify` proves.

    Formula: $\delta(\varepsilon_1) \le \delta \le \delta(\varepsilon_2)$.
    Parameters: as for `epsilon`, with delta above 0.
    Returns: JSON. `upper` and `lower` hold $\varepsilon_1$ and
    $\varepsilon_2$, six digits each, within 1e-3 of what `epsilon` says.
    Raises: ValueError for bad values; NotImplementedError if the checker
    proves nothing near.
    Source: page-certificates.

    >>> from accountlib.mechanisms import PureDP
    >>> text = certificate(Release(PureDP(0.5), count=2), delta=1e-9,
    ...     adjacency="remove")
    >>> json.loads(text)["upper"]
    [1.0003, 1e-09]
    """
    steps = [releases] if isinstance(releases, Release) else list(releases)
    size, word = group_size, str(Adjacency(adjacency))
    bound = epsilon(steps, delta=delta, adjacency=word, group_size=size)
    if delta <= 0 or bound.upper > 999:
        raise ValueError(f"nothing to certify at delta={delta!r}: {bound}")
    run = [
        [[type(y).__name__, *vars(y).values()] for y in parts] + [n]
        for *parts, n in ((x.mechanism, x.sampling, x.count) for x in steps)
    ]
    top, verdict = max(bound.upper, 1e-6), Verdict()
    step, bits = step_and_bits(top, delta, sum(x.count for x in steps))
    for width, finer in TRIES:
        low, high = bound.lower * (1 - width), top * (1 + width)
        file = {"run": run, "adjacency": word, "group_size": size}
        file["upper"] = [float(f"{high:.6g}"), delta]
        file["lower"] = [float(f"{low:.6g}"), delta if low > 0 else 0]
        file |= {"step": float(f"{step / finer:.12g}"), "bits": bits}
        verdict = verify(text := json.dumps(file))
        if verdict:
            return text
    raise NotImplementedError(f"no certificate for {bound}: {verdict}")
