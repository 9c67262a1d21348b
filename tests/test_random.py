"""Random questions, ordinary and hostile: lower <= truth <= upper."""

import numpy as np
import pytest

import accountlib as al
from tests.settings import hostile, ordinary, violation
from tests.truth import NoTruth

KINDS = {"ordinary": ordinary, "hostile": hostile}
SEEDS, EACH = range(8), 10


def ask(setting):
    """The answer of the package, as a Bound."""
    releases = [
        al.Release(
            *(getattr(al, name)(*numbers) for name, *numbers in words),
            count=count,
        )
        for *words, count in setting.releases
    ]
    question = al.epsilon if setting.question == "epsilon" else al.delta
    at = "delta" if setting.question == "epsilon" else "epsilon"
    return question(
        releases,
        adjacency=setting.adjacency,
        group_size=setting.group_size,
        **{at: setting.value},
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_truth_is_inside(seed, kind):
    rng = np.random.default_rng([seed, len(kind)])
    for _ in range(EACH):
        setting = KINDS[kind](rng)
        try:
            bound = ask(setting)
            wrong = violation(setting, bound.lower, bound.upper)
        except (NotImplementedError, NoTruth):
            continue
        assert not wrong, (setting, wrong)
