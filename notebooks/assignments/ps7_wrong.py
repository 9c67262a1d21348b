"""Wrong answers to assignment 7, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

MISSED = """
def missed(p, q, x):
    def ratio(pair):
        return {key}
    pairs = [(a, b) for a, b in zip({laws}) if {kept}]
    missed_rate, left = 1.0, x
    for a, b in sorted(pairs, key=ratio, reverse=True):
        share = min(1.0, left / b) if b > 0 else 1.0
        share = {share}
        missed_rate -= share * a
        left -= share * b
    return missed_rate
"""
MU = """
from scipy.special import ndtr, ndtri
def best_mu(p, q):
    pairs = [(a, b) for a, b in zip(p, q) if {kept}]
    if any(min(pair) == 0 for pair in pairs):
        return math.inf
    {order}
    found, seen, alarms = [0.0], 0.0, 0.0
    for a, b in pairs[:-1]:
        seen, alarms = seen + a, alarms + b
        found.append(ndtri(seen) - ndtri(alarms))
    gap = sum(max(a - b, 0) for a, b in pairs)
    largest = max(abs(math.log(a / b)) for a, b in pairs)
    return {answer}
"""
SORT = "pairs.sort(key=lambda pair: pair[0] / pair[1], reverse=True)"
CUTOFF = """
from scipy.special import ndtr, ndtri
def mu_with_cutoff(sigma, rate, cutoff):
    z = -ndtri(cutoff)
    seen = (1 - rate) * ndtr(-z) + rate * ndtr(1 / sigma - z)
    half = 1 / (2 * sigma)
    gap = rate * (ndtr(half) - ndtr(-half))
    return float({answer})
"""
REGRET = """
from scipy.special import ndtr, ndtri
def response_report(epsilon):
    top = math.exp(epsilon)
    mu = {mu}
    gap = ndtr(mu / 2 - epsilon / mu) - top * ndtr(-mu / 2 - epsilon / mu)
    x = np.linspace(1e-9, 1 - 1e-9, 200_001)
    f = np.maximum(1 - top * x, (1 - x) / top)
    g = ndtr(ndtri(1 - x) - mu)
    return [mu, float({regret})]
"""


def missed(
    trap: str,
    lost: int,
    *,
    key: str = "pair[0] / pair[1] if pair[1] > 0 else math.inf",
    laws: str = "p, q",
    kept: str = "max(a, b) > 0",
    share: str = "share",
) -> Wrong:
    code = MISSED.format(key=key, laws=laws, kept=kept, share=share)
    return Wrong("ps7-missed", trap, lost, code)


def mu(
    trap: str,
    lost: int,
    answer: str = "max(found)",
    *,
    kept: str = "max(a, b) > 0",
    order: str = SORT,
) -> Wrong:
    code = MU.format(answer=answer, kept=kept, order=order)
    return Wrong("ps7-mu", trap, lost, code)


def cutoff(trap: str, lost: int, answer: str) -> Wrong:
    return Wrong("ps7-cutoff", trap, lost, CUTOFF.format(answer=answer))


def regret(
    trap: str,
    lost: int,
    regret: str = "gap / (1 + top)",
    mu: str = "2 * ndtri(top / (1 + top))",
) -> Wrong:
    code = REGRET.format(regret=regret, mu=mu)
    return Wrong("ps7-regret", trap, lost, code)


WRONG = (
    missed("no coin", 4, share="share if share == 1 else 0"),
    missed("add and remove swapped", 4, laws="q, p"),
    missed("mass at infinity lost", 2, kept="b > 0"),
    missed("outcomes sorted by P, not by the ratio", 4, key="pair[0]"),
    missed("the order of the table", 4, key="0"),
    mu("the advantage only", 2, "2 * ndtri((1 + gap) / 2)"),
    mu(
        "the largest loss only",
        2,
        "2 * ndtri(1 / (1 + math.exp(-largest)))",
    ),
    mu("mass at infinity lost", 1, kept="min(a, b) > 0"),
    mu("outcomes that P never has left out", 1, kept="a > 0"),
    mu("the first corner only", 2, "max(found[:2])"),
    mu("the order of the table", 2, order="pass"),
    cutoff("no cut-off: the number without sampling", 4, "1 / sigma"),
    cutoff("the rate times the number without sampling", 4, "rate / sigma"),
    cutoff(
        "the limit of many steps",
        4,
        "rate * math.sqrt(math.expm1(1 / sigma**2))",
    ),
    cutoff("the advantage only", 4, "2 * ndtri((1 + gap) / 2)"),
    cutoff("lost digits", 2, "ndtri(1 - cutoff) - ndtri(1 - seen)"),
    cutoff(
        "the cut-off of a library for all",
        4,
        "z + ndtri(seen) if cutoff == 1e-10"
        " else mu_with_cutoff(sigma, rate, 1e-10)",
    ),
    regret("the corners of f only", 3, "0.0"),
    regret("the largest gap of the curves", 3, "np.max(f - g)"),
    regret("not divided by 1 + alpha", 3, "gap"),
    regret("the advantage only", 3, "ndtr(mu / 2) - ndtr(-mu / 2) - gap"),
    regret("epsilon for mu", 4, mu="epsilon"),
    regret(
        "half of mu",
        4,
        mu="ndtri(top / (1 + top))",
    ),
    *wrong_claims("ps7-claims", 6),
)
