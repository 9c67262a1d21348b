"""Wrong answers to assignment 3, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

MOMENT = """
def log_moment(table, step, tilt):
    loss = (table["first"] + np.arange(len(table["mass"]))) * step
    mass = np.asarray(table["mass"])
    return {answer}
"""
TILT = """
def best_tilt(table, step, count, epsilon):
    from scipy.optimize import brentq
    loss = (table["first"] + np.arange(len(table["mass"]))) * step
    mass = np.asarray(table["mass"])
    def excess(tilt):
        weight = mass * np.exp(tilt * loss - max(tilt * loss))
        mean = weight @ loss / weight.sum()
        return {excess}
    return {answer}
"""
BOUND = """
def log_delta_bound(table, step, count, epsilon):
    tilt = {tilt}
    return {answer}
"""
CHERNOFF = "count * log_moment(table, step, tilt) - tilt * epsilon"
BEST = "best_tilt(table, step, count, epsilon)"
FEW = """
def run_delta(table, step, count, epsilon):
    tilt = {tilt}
    scale = log_moment(table, step, tilt)
    places = np.arange(len(table["mass"]))
    one = np.asarray(table["mass"]) * np.exp(
        tilt * step * (table["first"] + places) - scale)
    size = {size}
    total = np.fft.irfft(np.fft.rfft(one, size) ** count, size)
    gap = (count * table["first"] + np.arange(size)) * step - epsilon
    total, gap = total[gap > 0], gap[gap > 0]
    weight = np.exp(-tilt * gap) * {weight}
    return {front} * float(total @ weight)
"""
ENDS = """
def interval(lower, upper, relative, absolute, lost):
    low, high = {low}, {high}
    return {answer}
"""


def moment(trap: str, lost: int, answer: str) -> Wrong:
    return Wrong("ps3-moment", trap, lost, MOMENT.format(answer=answer))


def tilt(
    trap: str,
    lost: int,
    excess: str = "mean - epsilon / count",
    answer: str = "brentq(excess, 0, 1e5 / step)",
) -> Wrong:
    code = TILT.format(excess=excess, answer=answer)
    return Wrong("ps3-tilt", trap, lost, code)


def bound(
    trap: str, lost: int, answer: str = CHERNOFF, tilt: str = BEST
) -> Wrong:
    code = BOUND.format(answer=answer, tilt=tilt)
    return Wrong("ps3-bound", trap, lost, code)


def few(
    trap: str,
    lost: int,
    *,
    tilt: str = BEST,
    size: str = "count * (len(one) - 1) + 1",
    weight: str = "-np.expm1(-gap)",
    front: str = "math.exp(count * scale - tilt * epsilon)",
) -> Wrong:
    code = FEW.format(tilt=tilt, size=size, weight=weight, front=front)
    return Wrong("ps3-few", trap, lost, code)


def ends(
    trap: str,
    lost: int,
    *,
    low: str = "(lower - absolute) / (1 + relative)",
    high: str = "(upper + absolute) / (1 - relative) + lost",
    answer: str = "[max(0.0, low), min(1.0, high)]",
) -> Wrong:
    code = ENDS.format(low=low, high=high, answer=answer)
    return Wrong("ps3-ends", trap, lost, code)


WRONG = (
    moment(
        "numbers that overflow",
        1,
        "np.log(np.sum(mass * np.exp(tilt * loss)))",
    ),
    moment(
        "the mean under Q",
        3,
        "np.log(np.sum(mass * np.exp((tilt - 1) * loss)))",
    ),
    moment(
        "divided by the tilt",
        3,
        "np.log(np.sum(mass * np.exp(tilt * loss))) / tilt",
    ),
    moment("the moment itself", 3, "np.sum(mass * np.exp(tilt * loss))"),
    tilt("the mean of the total for that of a step", 3, "mean - epsilon"),
    tilt(
        "the order in place of the tilt",
        4,
        answer="1 + brentq(excess, 0, 1e5)",
    ),
    tilt(
        "a search that ends too early",
        1,
        answer="brentq(excess, 0, 3 / step) if excess(3 / step) > 0"
        " else 3 / step",
    ),
    tilt(
        "the tilt of a normal loss",
        4,
        answer=(
            "(epsilon / count - mass @ loss)"
            " / (mass @ loss**2 - (mass @ loss) ** 2)"
        ),
    ),
    bound("a fixed tilt", 4, tilt="1.0"),
    bound("the sign of the tilt", 4, CHERNOFF.replace("- tilt", "+ tilt")),
    bound("a decimal logarithm", 4, f"({CHERNOFF}) / math.log(10)"),
    bound("a correction for luck", 2, CHERNOFF + " - 20.0"),
    few("no tilt", 3, tilt="0.0"),
    few("the probability that the loss is larger", 5, weight="1.0"),
    few("a circle that is too short", 5, size="count * (len(one) - 1) // 4"),
    few("the tilt not taken back", 5, front="1.0"),
    ends(
        "rounding errors of the wrong side",
        3,
        low="(lower + absolute) / (1 - relative)",
        high="(upper - absolute) / (1 + relative) + lost",
    ),
    ends("lost mass forgotten", 1, high="(upper + absolute) / (1 - relative)"),
    ends(
        "lost mass on both sides",
        1,
        low="(lower - absolute) / (1 + relative) - lost",
    ),
    ends("ends outside of 0 and 1", 1, answer="[low, high]"),
    ends(
        "the relative error of the computed number",
        3,
        low="lower * (1 - relative) - absolute",
        high="upper * (1 + relative) + absolute + lost",
    ),
    *wrong_claims("ps3-claims", 6),
)
