"""Wrong answers to assignment 4, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

RENYI = """
def renyi_divergence(p, q, order):
    pairs = list(zip(p, q))
    if any({leak} for x, y in pairs):
        return {missing}
    total = sum({term} for x, y in pairs if x > 0 and y > 0)
    return {answer}
"""
ADDED = """
def added_curve(order, parts):
    found = []
    for kind, value, count in parts:
        pair = [value, 1 - value]
        if kind == "gaussian":
            found.append({gaussian})
        else:
            found.append({response})
    return {answer}
"""
CONVERT = """
def epsilon_from_curve(orders, values, delta):
    a, value = np.asarray(orders), np.asarray(values)
    weight = -np.log(a) + (a - 1) * np.log1p(-1 / a)
    rest = ({weight} - math.log(delta)) / {divisor}
    return {answer}
"""
BEST = "max(0.0, np.min(value + rest))"
SAMPLED = """
def sampled_curve(order, sigma, rate):
    k = np.arange({first}, order + 1)
    ways = [math.comb(order, int(x)) for x in k]
    terms = [w * (1 - rate) ** (order - int(x)) * rate ** int(x)
             * math.{function}({exponent}) for w, x in zip(ways, k)]
    return math.{outer}(math.fsum(terms)) / {divisor}
"""


def renyi(
    trap: str,
    lost: int,
    *,
    term: str = "x * (x / y) ** (order - 1)",
    answer: str = "math.log(total) / (order - 1)",
    missing: str = "math.inf",
    leak: str = "x > 0 and y == 0",
) -> Wrong:
    code = RENYI.format(term=term, answer=answer, missing=missing, leak=leak)
    return Wrong("ps4-renyi", trap, lost, code)


def added(
    trap: str,
    lost: int,
    *,
    gaussian: str = "count * order / (2 * value**2)",
    response: str = "count * renyi_divergence(pair, pair[::-1], order)",
    answer: str = "sum(found)",
) -> Wrong:
    code = ADDED.format(gaussian=gaussian, response=response, answer=answer)
    return Wrong("ps4-added", trap, lost, code)


def convert(
    trap: str,
    lost: int,
    *,
    weight: str = "weight",
    divisor: str = "(a - 1)",
    answer: str = BEST,
) -> Wrong:
    code = CONVERT.format(weight=weight, divisor=divisor, answer=answer)
    return Wrong("ps4-convert", trap, lost, code)


def sampled(
    trap: str,
    lost: int,
    *,
    first: str = "2",
    function: str = "expm1",
    exponent: str = "x * (x - 1) / (2 * sigma**2)",
    outer: str = "log1p",
    divisor: str = "(order - 1)",
) -> Wrong:
    code = SAMPLED.format(
        first=first,
        function=function,
        exponent=exponent,
        outer=outer,
        divisor=divisor,
    )
    return Wrong("ps4-sampled", trap, lost, code)


WRONG = (
    renyi("add and remove swapped", 3, term="y * (y / x) ** (order - 1)"),
    renyi("not divided by the order minus 1", 3, answer="math.log(total)"),
    renyi(
        "mass at infinity lost",
        1,
        missing="renyi_divergence(*zip(*[z for z in pairs if z[1]]), order)",
    ),
    renyi("infinite wherever P or Q is 0", 1, leak="x == 0 or y == 0"),
    renyi(
        "the order of the moment for that of the divergence",
        3,
        term="x * (x / y) ** order",
        answer="math.log(total) / order",
    ),
    added("noise not squared", 3, gaussian="count * order / (2 * value)"),
    added(
        "a factor of 2: one record exchanged for another",
        3,
        gaussian="count * 2 * order / value**2",
    ),
    added("the largest part only", 2, answer="max(found)"),
    added(
        "counts forgotten",
        4,
        gaussian="order / (2 * value**2)",
        response="renyi_divergence(pair, pair[::-1], order)",
    ),
    added(
        "the largest loss in place of the divergence",
        3,
        response="count * math.log(value / (1 - value))",
    ),
    convert("the rule without its weight", 5, weight="0.0"),
    convert("the largest order only", 5, answer="(value + rest)[-1]"),
    convert("the conversion as printed", 5, divisor="a"),
    convert("an epsilon below 0", 1, answer="np.min(value + rest)"),
    convert(
        "infinite values left as they are",
        1,
        answer="max(0.0, np.min(value + rest))"
        " if np.all(np.isfinite(value)) else math.inf",
    ),
    sampled("numbers that overflow", 1),
    sampled(
        "lost digits",
        2,
        first="0",
        function="exp",
        outer="log",
    ),
    sampled("k squared", 4, exponent="x**2 / (2 * sigma**2)"),
    sampled("divided by the order", 4, divisor="order"),
    Wrong(
        "ps4-sampled",
        "the rate squared times the curve",
        4,
        "def sampled_curve(order, sigma, rate):\n"
        "    return rate**2 * order / (2 * sigma**2)\n",
    ),
    *wrong_claims("ps4-claims", 6),
)
