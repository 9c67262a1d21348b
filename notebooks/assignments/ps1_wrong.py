"""Wrong answers to assignment 1, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

HOCKEY = "def hockey_stick(p, q, alpha):\n    pairs = list(zip(p, q))\n"
GAUSSIAN = """
from scipy.special import ndtr
def gaussian_delta(epsilon, sigma):
    mu = 1 / sigma
"""
SAMPLED = """
def sampled_deltas(epsilon, sigma, rate):
    def remove(alpha):
        inner = 1 + (alpha - 1) / rate
        if inner <= 0:
            return {below}
        return rate * gaussian_delta({inner}, sigma)
    alpha = math.exp(epsilon)
    r, a = remove(alpha), 1 - alpha + alpha * remove(1 / alpha)
    return {answer}
"""
ROUNDS = """
def worst_delta(truth, rate, count, alpha):
    no = 1 - truth
    yes = rate * truth + (1 - rate) * no
    def tables(count, ways=math.comb):
        p = [ways(count, k) * yes**k * (1 - yes) ** (count - k)
             for k in range(count + 1)]
        q = [ways(count, k) * no**k * (1 - no) ** (count - k)
             for k in range(count + 1)]
        return p, q
    p, q = tables(count)
    return {answer}
"""
BOTH = "max(hockey_stick(p, q, alpha), hockey_stick(q, p, alpha))"


def sampled(
    trap: str,
    lost: int,
    answer: str = "[r, a]",
    inner: str = "math.log(inner)",
    below: str = "1 - alpha",
) -> Wrong:
    code = SAMPLED.format(answer=answer, inner=inner, below=below)
    return Wrong("ps1-sampled", trap, lost, code)


def rounds(trap: str, lost: int, answer: str, code: str = ROUNDS) -> Wrong:
    return Wrong("ps1-rounds", trap, lost, code.format(answer=answer))


def hockey(trap: str, lost: int, answer: str) -> Wrong:
    return Wrong("ps1-hockey", trap, lost, HOCKEY + f"    return {answer}\n")


def gaussian(trap: str, lost: int, answer: str) -> Wrong:
    code = GAUSSIAN + f"    return {answer}\n"
    return Wrong("ps1-gaussian", trap, lost, code)


WRONG = (
    hockey(
        "mass at infinity lost",
        1,
        "sum(max(0, x - alpha * y) for x, y in pairs if y > 0)",
    ),
    hockey(
        "add and remove swapped",
        4,
        "sum(max(0, y - alpha * x) for x, y in pairs)",
    ),
    hockey(
        "the probability that the loss is larger than epsilon",
        4,
        "sum(x for x, y in pairs if x > alpha * y)",
    ),
    hockey(
        "alpha below 1 dropped",
        1,
        "sum(max(0, x - max(alpha, 1) * y) for x, y in pairs)",
    ),
    hockey(
        "half the sum of absolute values",
        4,
        "sum(abs(x - alpha * y) for x, y in pairs) / 2",
    ),
    gaussian(
        "the probability that the loss is larger than epsilon",
        4,
        "ndtr(mu / 2 - epsilon / mu)",
    ),
    gaussian(
        "the noise in place of its inverse",
        4,
        "ndtr(sigma / 2 - epsilon / sigma)"
        " - math.exp(epsilon) * ndtr(-sigma / 2 - epsilon / sigma)",
    ),
    gaussian(
        "a factor of 2: one record exchanged for another",
        4,
        "ndtr(mu - epsilon / mu / 2)"
        " - math.exp(epsilon) * ndtr(-mu - epsilon / mu / 2)",
    ),
    gaussian(
        "one minus a distribution function",
        1,
        "(1 - ndtr(epsilon / mu - mu / 2))"
        " - math.exp(epsilon) * (1 - ndtr(epsilon / mu + mu / 2))",
    ),
    gaussian(
        "epsilon below 0 read as 0",
        1,
        "ndtr(mu / 2 - max(epsilon, 0) / mu)"
        " - math.exp(max(epsilon, 0)) * ndtr(-mu / 2 - max(epsilon, 0) / mu)",
    ),
    gaussian(
        "the textbook bound instead of the curve",
        4,
        "min(1.0, 1.25 * math.exp(-((epsilon * sigma) ** 2) / 2))",
    ),
    sampled("add and remove swapped", 4, answer="[a, r]"),
    sampled("only remove reported", 2, answer="[r, r]"),
    sampled(
        "the rate times delta, at the same epsilon",
        4,
        inner="math.log(alpha)",
    ),
    sampled(
        "alpha below 1 read as 1",
        3,
        inner="max(0.0, math.log(inner))",
        below="rate * gaussian_delta(0.0, sigma)",
    ),
    rounds("only remove reported", 2, "hockey_stick(p, q, alpha)"),
    rounds("only add reported", 2, "hockey_stick(q, p, alpha)"),
    rounds(
        "deltas of single rounds added up",
        3,
        BOTH.replace("p, q", "*tables(1)").replace("q, p", "*tables(1)[::-1]")
        + " * count",
    ),
    rounds(
        "sequences of reports not counted",
        3,
        BOTH,
        ROUNDS.replace("ways=math.comb", "ways=lambda n, k: 1"),
    ),
    rounds(
        "every record takes part",
        4,
        BOTH,
        ROUNDS.replace("yes = rate * truth + (1 - rate) * no", "yes = truth"),
    ),
    *wrong_claims("ps1-claims", 6),
)
