"""Random questions, ordinary and hostile: lower <= truth <= upper."""

import sys

import numpy as np
import pytest

import accountlib as al
from tests.settings import hostile, ordinary, violation
from tests.truth import NoTruth

KINDS = {"ordinary": ordinary, "hostile": hostile}
SEEDS, EACH = range(8), 10


def releases(setting):
    """What is run, in objects of the package."""
    return [
        al.Release(
            *(getattr(al, name)(*numbers) for name, *numbers in words),
            count=count,
        )
        for *words, count in setting.releases
    ]


def ask(setting):
    """The answer of the package, as a Bound."""
    question = al.epsilon if setting.question == "epsilon" else al.delta
    at = "delta" if setting.question == "epsilon" else "epsilon"
    return question(
        releases(setting),
        adjacency=setting.adjacency,
        group_size=setting.group_size,
        **{at: setting.value},
    )


def wrong_ones(rng, kind, count):
    """What is wrong with answers to so many settings; others yield None."""
    for _ in range(count):
        try:
            setting = KINDS[kind](rng)
        except OverflowError:  # of a truth that a setting begins with
            continue
        try:
            bound = ask(setting)
            wrong = violation(setting, bound.lower, bound.upper)
        except (NotImplementedError, NoTruth):
            continue
        yield wrong and (setting, wrong)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_is_inside(seed, kind):
    rng = np.random.default_rng([seed, len(kind)])
    found = list(wrong_ones(rng, kind, EACH))
    assert found and not any(found), found


if __name__ == "__main__":  # python -m tests.test_random 10000 7 hostile
    many, start, which = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    found = list(wrong_ones(np.random.default_rng(start), which, many))
    print(*filter(None, found), f"{len(found)} asked and known", sep="\n")
