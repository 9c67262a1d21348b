"""Wrong answers to assignment 8, each with the points that it must lose."""

from course.tasks import Wrong, wrong_claims

CROSSING = """
def crossing(truth, rate, count):
    without = 1 - truth
    yes = {yes}
    count = {count}
    def law(chance):
        return [{ways} * chance**k * (1 - chance) ** (count - k)
                for k in range(count + 1)]
    p, q = law(yes), law(without)
    def lead(alpha):
        remove = sum(max(x - alpha * y, 0) for x, y in zip(p, q))
        return remove - sum(max(y - alpha * x, 0) for x, y in zip(p, q))
    kinks = {{x / y for x, y in zip(p, q)}} | {{y / x for x, y in zip(p, q)}}
    found, last = 0.0, None
    for alpha in {places}:
        here = lead(alpha)
        if alpha <= 1 or abs(here) < 1e-9:
            continue
        if last is not None and (last[1] > 0) != (here > 0):
            low, start = last
            found = {answer}
        last = alpha, here
    return found
"""
ATTACK = """
from scipy.special import ndtr, log_ndtr
def attack_delta(epsilon, sigma, batches, epochs, threshold):
    alpha = math.exp(epsilon)
    quiet, own = log_ndtr([threshold / sigma, (threshold - 1) / sigma])
    tail, more = ndtr([-threshold / sigma, (1 - threshold) / sigma])
    p = -math.expm1(epochs * ((batches - 1) * quiet + own))
    q = -math.expm1(epochs * batches * quiet)
    {change}
    return max(0.0, {answer})
"""
AUDIT = """
from scipy.stats import beta
def proven_epsilon(hits, members, alarms, outsiders, delta, confidence):
    fails = {fails}
    p = beta.ppf(fails, hits, members - hits + 1) if hits > 0 else 0.0
    q = 1.0
    if alarms < outsiders:
        q = beta.ppf(1 - fails, alarms + 1, outsiders - alarms)
    {change}
    found = [0.0]
    if p > delta:
        found.append(math.log((p - delta) / q))
    if 1 - q > delta and {mirror}:
        found.append(math.log((1 - q - delta) / (1 - p)))
    return max(found)
"""
CUT = """
from scipy.stats import binom, norm, poisson
def cut_delta(epsilon, delta, records, rate, largest, count):
    one = {one}
    some = {some}
    return delta + {answer}
"""


def crossing(
    trap: str,
    lost: int,
    *,
    yes: str = "rate * truth + (1 - rate) * without",
    count: str = "count",
    ways: str = "math.comb(count, k)",
    places: str = "sorted(kinks)",
    answer: str = "low + (alpha - low) * start / (start - here)",
) -> Wrong:
    code = CROSSING.format(
        yes=yes, count=count, ways=ways, places=places, answer=answer
    )
    return Wrong("ps8-crossing", trap, lost, code)


def attack(
    trap: str, lost: int, answer: str = "p - alpha * q", change: str = "pass"
) -> Wrong:
    code = ATTACK.format(answer=answer, change=change)
    return Wrong("ps8-attack", trap, lost, code)


def audit(
    trap: str,
    lost: int,
    *,
    fails: str = "(1 - confidence) / 2",
    change: str = "pass",
    mirror: str = "True",
) -> Wrong:
    code = AUDIT.format(fails=fails, change=change, mirror=mirror)
    return Wrong("ps8-audit", trap, lost, code)


def cut(
    trap: str,
    lost: int,
    answer: str = "(1 + math.exp(epsilon)) * some",
    *,
    one: str = "binom.sf(largest, records, rate)",
    some: str = "-math.expm1(count * math.log1p(-one))",
) -> Wrong:
    code = CUT.format(one=one, some=some, answer=answer)
    return Wrong("ps8-cut", trap, lost, code)


WRONG = (
    crossing("the curves of one round", 4, count="1"),
    crossing("two rounds for all", 2, count="2"),
    crossing("sequences of answers not counted", 2, ways="1"),
    crossing("every record takes part", 4, yes="truth"),
    crossing(
        "the smallest crossing",
        1,
        answer="found or low + (alpha - low) * start / (start - here)",
    ),
    crossing(
        "the next kink instead of the crossing",
        4,
        answer="alpha",
    ),
    crossing(
        "the next one of 500 places",
        4,
        places="np.linspace(1.01, 6, 500)",
        answer="alpha",
    ),
    attack("add and remove swapped", 4, "q - alpha * p"),
    attack("false alarms forgotten", 4, "p"),
    attack(
        "probabilities of sums added up",
        3,
        change="""\
p, q = epochs * ((batches - 1) * tail + more), epochs * batches * tail""",
    ),
    attack(
        "one epoch for all",
        1,
        change="p, q = -math.expm1((batches - 1) * quiet + own),"
        " -math.expm1(batches * quiet)",
    ),
    attack(
        "the record in every batch",
        4,
        change="p = -math.expm1(epochs * batches * own)",
    ),
    attack(
        "shuffled epochs taken for Poisson samples",
        3,
        change="p = -math.expm1(epochs * batches"
        " * math.log1p(-((batches - 1) * tail + more) / batches))",
    ),
    attack(
        "one minus a product",
        1,
        change="p, q = 1 - math.exp(epochs * ((batches - 1) * quiet + own)),"
        " 1 - math.exp(epochs * batches * quiet)",
    ),
    audit(
        "shares taken for probabilities",
        4,
        change="p, q = hits / members, alarms / outsiders",
    ),
    audit("the whole level for each bound", 4, fails="1 - confidence"),
    audit("delta forgotten", 4, change="delta = 0.0"),
    audit("one direction only", 1, mirror="False"),
    audit(
        "bounds by a normal law",
        4,
        change="from scipy.stats import norm; k = norm.isf(fails);"
        " p, q = hits / members, alarms / outsiders;"
        " p -= k * math.sqrt(p * (1 - p) / members);"
        " q += k * math.sqrt(q * (1 - q) / outsiders)",
    ),
    audit(
        "the wrong tail of both bounds",
        4,
        fails="(1 + confidence) / 2",
    ),
    cut("tau added once", 3, "some"),
    cut("tau on one side only", 3, "math.exp(epsilon) * some"),
    cut("one step only", 3, some="one"),
    cut(
        "the largest batch counted as cut",
        3,
        one="binom.sf(largest - 1, records, rate)",
    ),
    cut(
        "a normal law for the size",
        3,
        one="norm.sf(largest, records * rate,"
        " math.sqrt(records * rate * (1 - rate)))",
    ),
    cut(
        "a Poisson law for the size",
        3,
        one="poisson.sf(largest, records * rate)",
    ),
    cut("probabilities of steps added up", 2, some="count * one"),
    cut(
        "one minus a product",
        1,
        one="1 - binom.cdf(largest, records, rate)",
        some="1 - (1 - one) ** count",
    ),
    *wrong_claims("ps8-claims", 6),
)
