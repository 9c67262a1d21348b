"""Wrong answers to assignment 5, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

RULE = """
def group_rule(epsilon, delta, size):
    return [size * epsilon, delta * {factor}]
"""
SUM = "sum(math.exp(j * epsilon) for j in range(size))"
GROUP = """
from scipy.special import ndtr
def group_deltas(epsilon, sigma, rate, size):
    z = np.linspace(-9 * sigma, size + 9 * sigma, 200_001)
    def law(mean):
        x = (z - mean) / sigma
        return np.exp(-x * x / 2) / (sigma * math.sqrt(2 * math.pi))
    def stick(p, q):
        more = np.maximum(p - math.exp(epsilon) * q, 0)
        return float(more.sum() * (z[1] - z[0]))
    weights = [math.comb(size, j) * rate**j * (1 - rate) ** (size - j)
               for j in range(size + 1)]
    {change}
    p, q = sum(w * law(j) for j, w in enumerate(weights)), law(0)
    remove, add = stick(p, q), stick(q, p)
    return {answer}
"""
EXCHANGE = """
from scipy.optimize import brentq
from scipy.special import ndtr
def exchange_delta(epsilon, sigma, rate):
    def log_law(z):
        pull = (2 * z - 1) / (2 * sigma**2)
        out = math.log1p(-rate) if rate < 1 else -math.inf
        return np.logaddexp(out, math.log(rate) + pull)
    def mixed(z, *means):
        tails = [{tail} for m in means]
        return (1 - rate) * tails[0] + rate * tails[1]
    def mirrored(epsilon):
        z = brentq(lambda z: log_law(z) - log_law(-z) - epsilon, -1e3, 1e3)
        return mixed(z, 0, 1) - math.exp(epsilon) * mixed(z, 0, -1)
    def full(epsilon, sigma):
        s = sigma / 2
        first = ndtr(1 / (2 * s) - epsilon * s)
        return first - math.exp(epsilon) * ndtr(-1 / (2 * s) - epsilon * s)
    def remove(epsilon, sigma):
        inner = 1 + math.expm1(epsilon) / rate
        return rate * full(math.log(inner), 2 * sigma)
    return {answer}
"""
CHAINED = """
def chained_delta(epsilon, sigma, rate):
    def remove(e):
        return group_deltas(e, sigma, rate, 1)[0]
    def add(e):
        return group_deltas(e, sigma, rate, 1)[1]
    grid = np.linspace(0, epsilon, 201)
    return {answer}
"""


def rule(trap: str, lost: int, factor: str) -> Wrong:
    return Wrong("ps5-rule", trap, lost, RULE.format(factor=factor))


def group(
    trap: str, lost: int, answer: str = "[remove, add]", change: str = "pass"
) -> Wrong:
    code = GROUP.format(answer=answer, change=change)
    return Wrong("ps5-group", trap, lost, code)


def exchange(
    trap: str,
    lost: int,
    answer: str = "mirrored(epsilon)",
    tail: str = "ndtr((m - z) / sigma)",
) -> Wrong:
    code = EXCHANGE.format(answer=answer, tail=tail)
    return Wrong("ps5-exchange", trap, lost, code)


def chained(trap: str, lost: int, answer: str) -> Wrong:
    return Wrong("ps5-chained", trap, lost, CHAINED.format(answer=answer))


WRONG = (
    rule("cut off at 1", 1, f"min({SUM}, 1 / delta)"),
    rule("delta times the size of the group", 2, "size"),
    rule("the bound of a textbook", 2, "size * math.exp(size * epsilon)"),
    rule(
        "one step too many",
        3,
        "sum(math.exp(j * epsilon) for j in range(size + 1))",
    ),
    rule(
        "divided by 0",
        1,
        "(math.exp(size * epsilon) - 1) / (math.exp(epsilon) - 1)",
    ),
    rule(
        "every step has the growth of the last",
        2,
        "sum(math.exp(epsilon * (j + 1)) for j in range(size))",
    ),
    group("add and remove swapped", 4, "[add, remove]"),
    group("only remove reported", 2, "[remove, remove]"),
    group("only add reported", 2, "[add, add]"),
    group(
        "two of a family are never drawn together",
        4,
        change="weights = [1 - sum(weights[1:2]), weights[1]]",
    ),
    group(
        "the family is drawn as one person",
        4,
        change="weights = [1 - rate] + [0] * (size - 1) + [rate]",
    ),
    group(
        "curves of the numbers drawn, averaged",
        4,
        "[sum(w * stick(law(j), q) for j, w in enumerate(weights)),"
        " sum(w * stick(q, law(j)) for j, w in enumerate(weights))]",
    ),
    exchange("only a removed record", 4, "remove(epsilon, sigma)"),
    exchange(
        "a removed record, half the noise", 3, "remove(epsilon, sigma/2)"
    ),
    exchange(
        "the rate times delta, at the same epsilon",
        3,
        "rate * full(epsilon, sigma)",
    ),
    exchange("all take part", 3, "full(epsilon, sigma)"),
    exchange("a factor of 2 missing", 4, "full(epsilon, 2 * sigma)"),
    exchange("twice a removed record", 4, "2 * remove(epsilon / 2, sigma)"),
    exchange(
        "one minus a distribution function",
        1,
        tail="1 - ndtr((z - m) / sigma)",
    ),
    chained(
        "half of epsilon for each step",
        4,
        "remove(epsilon / 2) + math.exp(epsilon / 2) * add(epsilon / 2)",
    ),
    chained(
        "the growth of the first step forgotten",
        4,
        "min(remove(e) + add(epsilon - e) for e in grid)",
    ),
    Wrong(
        "ps5-chained",
        "the exchange's true curve",
        2,
        EXCHANGE.format(
            answer="mirrored(epsilon)", tail="ndtr((m - z) / sigma)"
        )
        + "chained_delta = exchange_delta\n",
    ),
    chained("all of epsilon for add", 2, "remove(0) + add(epsilon)"),
    chained(
        "removed twice",
        4,
        "min(remove(e) + math.exp(e) * remove(epsilon - e) for e in grid)",
    ),
    chained(
        "add before remove",
        4,
        "min(add(e) + math.exp(e) * remove(epsilon - e) for e in grid)",
    ),
    *wrong_claims("ps5-claims", 6),
)
