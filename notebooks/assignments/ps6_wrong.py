"""Wrong answers to assignment 6, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

STEP = """
from scipy.special import ndtr
def step_delta(sampler, adjacency, epsilon, sigma, rate):
    def plain(alpha, sigma):
        at, half = math.log(alpha) * sigma, 1 / (2 * sigma)
        return ndtr(half - at) - alpha * ndtr(-half - at)
    def remove(alpha, sigma, gamma):
        inner = 1 + (alpha - 1) / gamma
        return 1 - alpha if inner <= 0 else gamma * plain(inner, sigma)
    def add(alpha, sigma, gamma):
        return 1 - alpha + alpha * remove(1 / alpha, sigma, gamma)
    alpha = math.exp(epsilon)
    gamma = 1.0 if sampler == "full" else rate
    if {twice}:
        sigma = sigma / 2
    return {answer}
"""
TWICE = 'sampler == "batch" or adjacency == "exchange"'
LOADER = """
def which_sampler(batches, records):
    sizes = {{len({batch}) for batch in batches}}
    if {again} and any(len(set(batch)) < len(batch) for batch in batches):
        return "replacement"
    if len(sizes) > 1:
        return "poisson"
    if {full} and sizes == {{records}}:
        return "full"
    length = max(1, records // sizes.pop())
    sets = [frozenset(batch) for batch in batches]
    epochs = [sets[i : i + length] for i in range(0, len(sets), length)]
    if any(len(frozenset().union(*epoch)) < records for epoch in epochs):
        return "batch"
    return {answer}
"""
NOISE = """
def least_noise(sampler, adjacency, epsilon, delta, rate, count):
    low, high = 1e-3, 1e6
    while high > low * (1 + {width}):
        middle = math.sqrt(low * high)
        one = {one}
        if step_delta({kind}, epsilon, one, rate) <= delta:
            high = middle
        else:
            low = middle
    return {answer}
"""
RUN = """
from scipy.fft import irfft, rfft
from scipy.special import ndtr
def run_epsilon(sampler, sigma, rate, count, delta):
    sigma = {sigma}
    step, size = 2e-4, 2**19
    z = np.linspace(-12 * sigma, 1 + 12 * sigma, 100_001)
    q, moved = np.diff(ndtr(z / sigma)), np.diff(ndtr((z - 1) / sigma))
    middle = (z[1:] + z[:-1]) / 2
    loss = np.log1p(rate * np.expm1((2 * middle - 1) / (2 * sigma**2)))
    values = step * np.arange(size // 4 * 3)
    def epsilon(losses, mass, count=count, delta=delta):
        place = {place}
        below = np.floor(place)
        share, below = place - below, below.astype(int)
        table = np.bincount(below % size, mass * (1 - share), size)
        table += np.bincount((below + 1) % size, mass * share, size)
        total = irfft(rfft(table) ** count, size)[: len(values)]
        upper = np.cumsum(total[::-1])[::-1]
        lower = np.cumsum((total * np.exp(-values))[::-1])[::-1]
        return values[np.argmax({excess} <= delta)]
    p = (1 - rate) * q + rate * moved
    return {answer}
"""


def step(
    trap: str,
    lost: int,
    answer: str = "max(remove(alpha, sigma, gamma), add(alpha, sigma, gamma))",
    twice: str = TWICE,
) -> Wrong:
    code = STEP.format(answer=answer, twice=twice)
    return Wrong("ps6-step", trap, lost, code)


def loader(
    trap: str,
    lost: int,
    *,
    batch: str = "batch",
    again: str = "True",
    full: str = "True",
    answer: str = '"order" if all(x == epochs[0] for x in epochs)'
    ' else "shuffled"',
) -> Wrong:
    code = LOADER.format(batch=batch, again=again, full=full, answer=answer)
    return Wrong("ps6-loader", trap, lost, code)


def noise(
    trap: str,
    lost: int,
    *,
    one: str = "middle / math.sqrt(count)",
    kind: str = "sampler, adjacency",
    answer: str = "high",
    width: str = "1e-6",
) -> Wrong:
    code = NOISE.format(one=one, kind=kind, answer=answer, width=width)
    return Wrong("ps6-noise", trap, lost, code)


def run(
    trap: str,
    lost: int,
    *,
    sigma: str = 'sigma / 2 if sampler == "batch" else sigma',
    place: str = "losses / step",
    excess: str = "upper - np.exp(values) * lower",
    answer: str = "max(epsilon(loss, p), epsilon(-loss, q))",
) -> Wrong:
    code = RUN.format(sigma=sigma, place=place, excess=excess, answer=answer)
    return Wrong("ps6-run", trap, lost, code)


WRONG = (
    step("batches taken for Poisson", 1, twice='adjacency == "exchange"'),
    step("exchanged as if removed", 1, twice='sampler == "batch"'),
    step("only add reported", 2, "add(alpha, sigma, gamma)"),
    step(
        "the rate times delta, at the same epsilon",
        2,
        "gamma * plain(alpha, sigma)",
    ),
    step(
        "twice the noise where half is meant",
        2,
        "max(remove(alpha, sigma, gamma), add(alpha, sigma, gamma))"
        f" if not ({TWICE}) else remove(alpha, 4 * sigma, gamma)",
    ),
    loader("batches of one size are drawn anew", 2, answer='"batch"'),
    loader("a record twice is not seen", 1, again="False"),
    loader("a record twice counts once", 1, batch="set(batch)", again="False"),
    loader("epochs of one order are shuffled", 1, answer='"shuffled"'),
    loader("full batches are epochs", 1, full="False"),
    noise(
        "batches taken for Poisson",
        1,
        kind='"poisson" if sampler == "batch" else sampler, adjacency',
    ),
    noise(
        "exchanged as if removed",
        1,
        kind='sampler, "add-or-remove"',
    ),
    noise("noise grows with the steps", 2, one="middle / count"),
    noise("the noise of one step", 2, one="middle"),
    noise("the lower end of the bracket", 4, answer="low * (1 - 1e-6)"),
    noise("rounded down", 4, answer="math.floor(100 * high) / 100"),
    noise("a bracket as wide as 1 %", 4, width="0.01", answer="high * 1.005"),
    noise(
        "the bound of a textbook",
        4,
        answer="math.sqrt(2 * count * math.log(1.25 / delta)) / epsilon",
    ),
    run("batches taken for Poisson", 2, sigma="sigma"),
    run("half of the noise for all", 2, sigma="sigma / 2"),
    run("only add reported", 4, answer="epsilon(-loss, q)"),
    run("losses rounded up", 4, place="np.ceil(losses / step)"),
    run(
        "the probability that the loss is larger than epsilon",
        4,
        excess="upper",
    ),
    run(
        "epsilons of single steps added up",
        4,
        answer="count * epsilon(loss, p, 1, delta / count)",
    ),
    *wrong_claims("ps6-claims", 6),
)
