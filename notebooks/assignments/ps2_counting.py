"""Checks of assignment 2, on the part about thousands of steps.

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from course.tasks import (
    Assignment,
    Check,
    Judge,
    Numbers,
    Question,
    Task,
    claims_key,
    claims_task,
    close,
    draw_claims,
    pick,
)
from course.values import Malformed, number, numbers

Ask = Callable[[Random, Numbers], list[Question]]
Atoms = list[tuple[float, float]]  # losses and probabilities
Table = dict[str, Any]  # first, mass, infinity
Holds = Callable[[Table, Atoms, float], str]  # what is wrong with a table

# --- tables, outside of the box -----------------------------------------


def curve(atoms: Atoms, epsilon: float) -> float:
    """The sum of (1 - e^(epsilon - loss)) over the losses above epsilon."""
    terms = [
        -math.expm1(epsilon - loss) * mass
        for loss, mass in atoms
        if loss > epsilon
    ]
    return math.fsum(terms)


def atoms_of(table: Table, step: float) -> Atoms:
    first = table["first"]
    found = [((first + k) * step, x) for k, x in enumerate(table["mass"])]
    return [*found, (math.inf, table["infinity"])]


def as_table(value: Any) -> Table:
    """An answer as a table, if it has the form of one."""
    if type(value) is not dict or type(value.get("first")) is not int:
        raise Malformed("a dictionary with first, mass, infinity was expected")
    if abs(value["first"]) > 100_000:
        raise Malformed("`first` is far away")
    mass, infinity = numbers(value.get("mass")), number(value.get("infinity"))
    if not all(map(math.isfinite, [*mass, infinity])):
        raise Malformed("a probability is infinite")
    return {"first": value["first"], "mass": mass, "infinity": infinity}


def convolved(table: Table, count: int) -> Table:
    """Composition by plain sums, whose rounding errors are relative."""
    mass = np.ones(1)
    for _ in range(count):
        mass = np.convolve(mass, table["mass"])
    infinity = composed_infinity(table["infinity"], count)
    first = count * table["first"]
    return {"first": first, "mass": mass.tolist(), "infinity": infinity}


def smallest(table: Table, step: float, delta: float) -> float:
    """The smallest epsilon of at least 0, solved between two grid losses."""
    atoms = atoms_of(table, step)
    if curve(atoms, 0.0) <= delta:
        return 0.0
    if table["infinity"] > delta:
        return math.inf
    ends = [0.0, *(loss for loss, _ in atoms if 0 < loss < math.inf)]
    below = max(x for x in ends if curve(atoms, x) > delta)
    above = [(loss, mass) for loss, mass in atoms if loss > below]
    total = math.fsum(mass for _, mass in above)
    other = math.fsum(mass * math.exp(-loss) for loss, mass in above)
    return math.log((total - delta) / other)


def draw_masses(random: Random, size: int, infinity: float) -> list[float]:
    """Probabilities of the finite losses, which infinity makes up to 1."""
    raw = [random.uniform(0.2, 1.0) for _ in range(size)]
    found = [round(x / sum(raw) * (1 - infinity), 4) for x in raw[:-1]]
    return [*found, round(1 - infinity - sum(found), 12)]


def draw_table(random: Random, size: int, infinity: float) -> Table:
    first = random.randint(-4, -1)
    mass = draw_masses(random, size, infinity)
    return {"first": first, "mass": mass, "infinity": infinity}


# --- a table from above -------------------------------------------------


def buckets(atoms: Atoms, step: float) -> Atoms:
    return [
        (loss if loss == math.inf else math.ceil(loss / step) * step, mass)
        for loss, mass in atoms
    ]


def is_law(table: Table, atoms: Atoms, step: float) -> str:
    mass = [*table["mass"], table["infinity"]]
    if min(mass) < -1e-12:
        return "a probability is negative"
    total = math.fsum(mass)
    if abs(total - 1) > 1e-9:
        return f"your probabilities add up to {total:.6g}"
    return ""


def points_of(step: float) -> list[float]:
    return [x * step / 4 for x in range(-24, 80)]


def is_above(table: Table, atoms: Atoms, step: float) -> str:
    found = atoms_of(table, step)
    for epsilon in points_of(step):
        if curve(found, epsilon) < curve(atoms, epsilon) - 1e-10:
            return (
                f"at epsilon = {epsilon:.4g} your table is below the truth: "
                "it is no upper bound"
            )
        if curve(found, epsilon) > curve(atoms, epsilon - 2 * step) + 1e-10:
            return f"at epsilon = {epsilon:.4g} your table is far too high"
    return ""


def is_tight(table: Table, atoms: Atoms, step: float) -> str:
    found, rounded = atoms_of(table, step), buckets(atoms, step)
    for epsilon in points_of(step):
        if curve(found, epsilon) > curve(rounded, epsilon) + 1e-10:
            return (
                f"at epsilon = {epsilon:.4g} your table is higher than "
                "rounding needs"
            )
    return ""


def keeps_infinity(table: Table, atoms: Atoms, step: float) -> str:
    given, found = atoms[-1][1], table["infinity"]
    if abs(found - given) > 1e-9:
        side = "less" if found < given else "more"
        return f"your table has {side} mass at infinity than the losses"
    return ""


def ask_table(infinity: float, holds: Holds) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            step = random.choice([0.1, 0.2, 0.25])
            size = random.randint(4, 8)
            places = random.sample(range(-8, 25), size)
            losses = [
                round((x + random.uniform(0.1, 0.9)) * step, 4) for x in places
            ]
            atoms = list(
                zip(losses, draw_masses(random, size, infinity), strict=True)
            )
            atoms.append((math.inf, infinity))
            arguments = [[x for x, _ in atoms], [x for _, x in atoms], step]
            judge = partial(about, holds, atoms, step)
            found.append(Question(arguments, judge))
        return found

    return ask


def about(holds: Holds, atoms: Atoms, step: float, value: Any) -> str:
    message = holds(as_table(value), atoms, step)
    case = ", ".join(f"{loss:g}: {mass:.4g}" for loss, mass in atoms)
    return message and f"losses {case}, step {step:g}: {message}"


TABLE = Task(
    "ps2-table",
    stars=2,
    minutes=20,
    entry="upper_table",
    checks=(
        Check("all probabilities are kept", 1, ask_table(0.02, is_law), True),
        Check("never below the truth", 2, ask_table(0.0, is_above)),
        Check("mass at infinity", 1, ask_table(0.03, keeps_infinity), True),
        Check("not above plain rounding", 1, ask_table(0.0, is_tight)),
    ),
)

# --- reading delta and epsilon ------------------------------------------


def told(table: Table, **rest: float) -> str:
    shown = {name: value for name, value in table.items() if name != "mass"}
    shown["mass"] = [round(x, 4) for x in table["mass"]]
    words = [f"{name} = {value}" for name, value in (shown | rest).items()]
    return ", ".join(words)


def ask_curve(low: float, high: float, infinity: float) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            table = draw_table(random, random.randint(7, 12), infinity)
            step, epsilon = pick(random, 0.1, 0.4), pick(random, low, high)
            judge = close(
                partial(curve, atoms_of(table, step), epsilon),
                told(table, step=step, epsilon=epsilon),
            )
            found.append(Question([table, step, epsilon], judge))
        return found

    return ask


CURVE = Task(
    "ps2-curve",
    stars=1,
    minutes=10,
    entry="table_delta",
    checks=(
        Check("finite losses", 2, ask_curve(0.02, 0.15, 0.0)),
        Check("mass at infinity", 1, ask_curve(5.0, 9.0, 0.02), special=True),
    ),
)


def ask_epsilon(kind: str) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            infinity = 0.0 if kind == "zero" else pick(random, 0.01, 0.03)
            table = draw_table(random, random.randint(7, 12), infinity)
            step = pick(random, 0.1, 0.4)
            top = curve(atoms_of(table, step), 0.0)
            low, high = {
                "between": (infinity, top),
                "zero": (top, 1.0),
                "infinite": (0.0, infinity),
            }[kind]
            delta = low + (high - low) * random.uniform(0.3, 0.7)
            judge = close(
                partial(smallest, table, step, delta),
                told(table, step=step, delta=delta),
                absolute=1e-6,
            )
            found.append(Question([table, step, delta], judge))
        return found

    return ask


EPSILON = Task(
    "ps2-epsilon",
    stars=2,
    minutes=15,
    entry="table_epsilon",
    uses=("ps2-curve",),
    checks=(
        Check("an epsilon above 0", 2, ask_epsilon("between")),
        Check("an epsilon of 0", 1, ask_epsilon("zero"), special=True),
        Check("no finite epsilon", 1, ask_epsilon("infinite"), True),
    ),
)

# --- composition --------------------------------------------------------


def same_masses(right: Table, case: str, value: Any) -> str:
    """The same probabilities, with or without zeros at the ends."""
    found = as_table(value)
    for table, other, word in (
        (found, right, "too large"),
        (right, found, "too small"),
    ):
        for k, mass in enumerate(table["mass"]):
            place = table["first"] + k - other["first"]
            inside = 0 <= place < len(other["mass"])
            if mass > (other["mass"][place] if inside else 0.0) + 1e-9:
                index = table["first"] + k
                return f"{case}: the probability of index {index} is {word}"
    return ""


def ask_compose(low: int, high: int, infinity: float) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            table = draw_table(random, random.randint(3, 6), infinity)
            count = random.randint(low, high)
            right = convolved(table, count)
            case = told(table, count=count)
            judge = partial(same_masses, right, case)
            found.append(Question([table, count], judge))
        return found

    return ask


def composed_infinity(infinity: float, count: int) -> float:
    return -math.expm1(count * math.log1p(-infinity))


def judge_infinity(right: Judge, value: Any) -> str:
    return right(as_table(value)["infinity"])


def ask_infinity(random: Random, numbers: Numbers) -> list[Question]:
    found = []
    for infinity in (pick(random, 0.05, 0.2), pick(random, 1, 9) * 1e-12):
        table = draw_table(random, 4, infinity)
        count = random.randint(5, 40)
        right = close(
            partial(composed_infinity, infinity, count),
            told(table, count=count) + ": mass at infinity",
            relative=0.01,
            absolute=0.0,
        )
        judge = partial(judge_infinity, right)
        found.append(Question([table, count], judge))
    return found


COMPOSE = Task(
    "ps2-compose",
    stars=2,
    minutes=15,
    entry="compose",
    checks=(
        Check("a few runs", 2, ask_compose(2, 5, 0.0)),
        Check("mass at infinity", 1, ask_infinity),
        Check("hundreds of runs", 1, ask_compose(150, 300, 0.0)),
    ),
)

# --- a whole run --------------------------------------------------------


def true_epsilon(case: list[Any], width: float = 1e-3) -> tuple[float, float]:
    import accountlib as al

    sigma, rate, count, delta = case
    run = al.Release(al.Gaussian(sigma), al.Poisson(rate), count=count)
    bound = al.epsilon(
        run, delta=delta, adjacency="add-or-remove", relative_width=width
    )
    return bound.lower, bound.upper


def draw_runs(random: Random) -> list[list[Any]]:
    """A run with much privacy and one with little."""
    return [
        [pick(random, 1.4, 1.6), pick(random, 0.05, 0.07), 20, 1e-5],
        [pick(random, 0.9, 1.1), pick(random, 0.12, 0.15), 30, 1e-5],
    ]


def judge_run(side: str, case: list[Any], value: Any) -> str:
    lower, upper = true_epsilon(case)
    found = number(value)
    names = ("sigma", "rate", "count", "delta")
    words = [f"{k} = {v:g}" for k, v in zip(names, case, strict=True)]
    low, high = (1.0, 4.0) if side == "above" else (0.9, 1.05)
    if found < low * lower:
        what = "below the truth" if low == 1 else "far below the truth"
    elif found > high * upper:
        what = "too far above the truth"
    else:
        return ""
    return f"for {', '.join(words)} your {found:.6g} is {what}"


def ask_run(side: str, first: int) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        cases = draw_runs(Random(numbers["_run"]))[first:]
        return [Question(x, partial(judge_run, side, x)) for x in cases]

    return ask


RUN = Task(
    "ps2-run",
    stars=3,
    minutes=25,
    entry="run_epsilon",
    uses=("ps2-table", "ps2-curve", "ps2-compose", "ps2-epsilon"),
    repeats=0,  # both checks ask the same
    checks=(
        Check("an upper bound", 2, ask_run("above", 0)),
        Check("near the truth", 2, ask_run("near", 1)),
    ),
)

# --- a derivation, and claims -------------------------------------------

DERIVE = Task(
    "ps2-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "writes the curve as a sum over losses, with the infinite loss"),
        (1, "says why moving mass to a larger loss never lowers the curve"),
        (1, "sums of independent losses: moves one run, the others fixed"),
        (1, "infinite losses: the sum is finite only if all of its terms are"),
    ),
)
METHODS = (
    ("Every loss is moved up to the next grid loss.", "upper"),
    ("Losses above <12 to 30> are moved to infinity, the others up.", "upper"),
    ("The epsilons of single runs, at $\\delta/T$ each, added up.", "upper"),
    (
        "Connected dots: a table whose curve is the exact one at each grid "
        "loss, and whose masses are exact.",
        "upper",
    ),
    ("Every loss is moved down to the grid.", "lower"),
    ("Losses above <3 to 8> are left out, the others moved down.", "lower"),
    (
        "All losses moved down to the grid, and of the largest grid losses "
        "some thrown away.",
        "lower",
    ),
    ("Every loss is moved to the nearest grid loss.", "neither"),
    ("Losses above <3 to 8> are left out, the others moved up.", "neither"),
    (
        "The sum of the losses is taken for normal, with its exact mean and "
        "variance.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    return {
        "sigma": pick(random, 0.8, 1.5),
        "rate": pick(random, 0.01, 0.1),
        "count": random.randint(100, 900),
        "_run": random.getrandbits(60),
    } | draw_claims(random, METHODS)


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    mass = [0.2, 0.3, 0.1, 0.2, 0.15]
    table = {"first": -2, "mass": mass, "infinity": 0.05}
    return {
        "curve_known": curve(atoms_of(table, 0.25), 0.3),
        "run_known": true_epsilon([1.2, 0.1, 10, 1e-5], 1e-6)[1],
    }


ASSIGNMENT = Assignment(
    "ps2",
    "Assignment 2: what is left after many steps?",
    Path(__file__).with_suffix(".md"),
    (
        TABLE,
        CURVE,
        COMPOSE,
        EPSILON,
        DERIVE,
        RUN,
        claims_task("ps2-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
