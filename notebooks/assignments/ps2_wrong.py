"""Wrong answers to assignment 2, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

TABLE = """
def upper_table(losses, probabilities, step):
    rows = [({round}, p) for x, p in zip(losses, probabilities)
            if x < math.inf]
    first = min(place for place, _ in rows)
    mass = np.zeros(max(place for place, _ in rows) - first + 1)
    for place, probability in rows:
        mass[place - first] += probability
    infinity = probabilities[-1]
    {end}
    return dict(first=first, mass=mass, infinity=infinity)
"""
SPLIT = """
def upper_table(losses, probabilities, step):
    first = min(math.floor(x / step) for x in losses[:-1])
    last = max(math.ceil(x / step) for x in losses[:-1])
    mass = np.zeros(last - first + 1)
    for x, p in zip(losses[:-1], probabilities):
        place = math.floor(x / step)
        share = x / step - place
        mass[place - first] += (1 - share) * p
        mass[place - first + 1] += share * p
    return dict(first=first, mass=mass, infinity=probabilities[-1])
"""
CURVE = """
def table_delta(table, step, epsilon):
    mass = np.asarray(table["mass"], dtype=float)
    losses = (table["first"] + np.arange(len(mass))) * step
    above = losses > epsilon
    return {answer}
"""
COMPOSE = """
def compose(table, count):
    one = np.asarray(table["mass"], dtype=float)
    size, p = count * (len(one) - 1) + 1, table["infinity"]
    mass = np.fft.irfft(np.fft.rfft(one, {size}) ** {count}, {size})
    return dict(first={first}, mass=mass[:size], infinity={infinity})
"""
EPSILON = """
def table_epsilon(table, step, delta):
    {start}
    grid = (table["first"] + np.arange(len(table["mass"]))) * step
    low, high = {low}, grid[-1] + step
    while high - low > 1e-9:
        middle = (low + high) / 2
        if {test} <= delta:
            high = middle
        else:
            low = middle
    return {answer}
"""
START = """if table["infinity"] > delta:
        return math.inf
    if table_delta(table, step, 0.0) <= delta:
        return 0.0"""
RUN = """
def run_epsilon(sigma, rate, count, delta):
    from scipy.special import ndtr
    step, highest, out = {step}, {highest}, math.log1p(-rate)
    ends = math.floor(out / step), round(highest / step) + 1
    losses = np.arange(*ends) * step
    inner = np.maximum(np.expm1(losses) / rate + 1, 1e-300)
    output = np.where(losses > out, sigma**2 * np.log(inner) + 0.5, -1e9)
    p = (1 - rate) * ndtr(output / sigma) + rate * ndtr((output - 1) / sigma)
    q = ndtr(output / sigma)
    first = round(losses[0] / step)
    remove = dict(first=first + {up}, mass=np.diff(p), infinity={infinity})
    mass = np.diff(q)[::-1]
    mass[0] += 1 - q[-1]
    add = dict(first=1 - round(losses[-1] / step), mass=mass, infinity=0.0)
    many = {compose}
    return {answer}
"""


def table(
    trap: str, lost: int, round: str = "math.ceil(x / step)", end: str = "pass"
) -> Wrong:
    return Wrong("ps2-table", trap, lost, TABLE.format(round=round, end=end))


def curve(trap: str, lost: int, answer: str) -> Wrong:
    return Wrong("ps2-curve", trap, lost, CURVE.format(answer=answer))


def compose(
    trap: str,
    lost: int,
    *,
    size: str = "2 * size",
    count: str = "count",
    first: str = 'count * table["first"]',
    infinity: str = "-math.expm1(count * math.log1p(-p))",
) -> Wrong:
    code = COMPOSE.format(
        size=size, count=count, first=first, infinity=infinity
    )
    return Wrong("ps2-compose", trap, lost, code)


def epsilon(
    trap: str,
    lost: int,
    *,
    start: str = START,
    low: str = "0.0",
    test: str = "table_delta(table, step, middle)",
    answer: str = "high",
) -> Wrong:
    code = EPSILON.format(start=start, low=low, test=test, answer=answer)
    return Wrong("ps2-epsilon", trap, lost, code)


def run(
    trap: str,
    lost: int,
    *,
    step: str = "1e-3",
    highest: str = "5.0",
    up: int = 1,
    infinity: str = "max(1e-15, 1 - p[-1])",
    compose: str = "compose(remove, count)",
    answer: str = "table_epsilon(many, step, delta)",
) -> Wrong:
    code = RUN.format(
        step=step,
        highest=highest,
        up=up,
        infinity=infinity,
        compose=compose,
        answer=answer,
    )
    return Wrong("ps2-run", trap, lost, code)


WRONG = (
    table("rounded down", 2, "math.floor(x / step)"),
    table("rounded to the nearest", 2, "round(x / step)"),
    table("mass at infinity lost", 2, end="infinity = 0.0"),
    table(
        "mass at infinity lost and the rest scaled up",
        1,
        end="mass, infinity = mass / sum(mass), 0.0",
    ),
    table("one row too far up", 1, "math.floor(x / step) + 2"),
    Wrong("ps2-table", "split so that the mean loss stays", 2, SPLIT),
    curve(
        "mass at infinity lost",
        1,
        "-sum((mass * np.expm1(epsilon - losses))[above])",
    ),
    curve(
        "the probability that the loss is larger than epsilon",
        3,
        'sum(mass[above]) + table["infinity"]',
    ),
    curve(
        "losses below epsilon count too",
        3,
        '-sum(mass * np.expm1(epsilon - losses)) + table["infinity"]',
    ),
    curve(
        "the sign of the loss",
        3,
        '-sum((mass * np.expm1(losses - epsilon))[above]) + table["infinity"]',
    ),
    compose("mass at infinity not composed", 1, infinity="p"),
    compose("mass at infinity to the power", 1, infinity="p**count"),
    compose("mass at infinity added up", 1, infinity="count * p"),
    compose(
        "mass at infinity with lost digits",
        1,
        infinity="np.float32(1) - (np.float32(1) - np.float32(p)) ** count",
    ),
    compose("the circle is too small", 3, size="(size // 2)"),
    compose("the first row does not move", 3, first='table["first"]'),
    compose("one run too few", 3, count="(count - 1)"),
    epsilon("the grid loss below", 2, answer="math.floor(high / step) * step"),
    epsilon("the grid loss above", 2, answer="math.ceil(high / step) * step"),
    epsilon(
        "mass at infinity lost",
        4,
        start="if table_delta(table, step, 0.0) <= delta:\n        return 0.0",
        test='table_delta(table, step, middle) - table["infinity"]',
    ),
    epsilon(
        "a quantile of the loss",
        2,
        test='sum(np.asarray(table["mass"])[grid > middle])'
        ' + table["infinity"]',
    ),
    epsilon(
        "an epsilon below 0",
        1,
        start=START.replace("0.0) <= delta", "-1e9) <= delta"),
        low="grid[0] - 9.0",
    ),
    run("only add", 4, compose="compose(add, count)"),
    run("losses rounded down", 2, up=0, step="5e-3"),
    run("a coarse grid", 2, step="0.05"),
    run("the tail thrown away", 4, highest="0.3", infinity="0.0"),
    run("a single step", 4, answer="table_epsilon(remove, step, delta)"),
    run(
        "epsilons of the steps added up",
        4,
        answer="count * table_epsilon(remove, step, delta / count)",
    ),
    *wrong_claims("ps2-claims", 6),
)
