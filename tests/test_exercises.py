"""A check says right to all that is right, and to nothing else."""

import math
from fractions import Fraction

import numpy as np
import pytest

from accountlib.exercises import Check, digest


def check_for(*answers, digits=3):
    made = digest("ex-test", *answers, digits=digits)
    return Check("ex-test", made, digits=digits)


@pytest.mark.parametrize(
    "answer, same, others",
    [
        ("upper", [" Upper "], ["lower", "", "uppe", 1, True]),
        (True, [np.True_, "true"], [False, np.False_, 1, 0, "yes"]),
        (0, [0.0, -0.0, np.int64(0)], [1e-17, 1e-300, False, math.nan]),
        (math.inf, [np.inf], [-np.inf, 1e308, math.nan, "infinite"]),
        (-0.25, [Fraction(-1, 4), -0.25001], [0.25, -0.251, "minus"]),
        (100, [1e2, np.float32(100), 100.05], [101, 99, 10, math.nan]),
    ],
)
def test_what_counts_as_the_same_answer(answer, same, others):
    check = check_for(answer)
    assert check(answer) == "right"
    assert [check(x) for x in same] == ["right"] * len(same)
    assert [check(x) for x in others] == ["not yet"] * len(others)


@pytest.mark.parametrize("digits", [1, 2, 3, 6, 10])
def test_a_digit_more_is_enough_on_both_sides_of_a_cells_border(digits):
    """Answers that were rounded to d + 1 digits; and far ones are wrong."""
    near, far = 0.99 / 10**digits, 2.01 / 10**digits
    for border in np.arange(-50, 50) + 0.5:
        for truth in np.exp((border + np.array([-1e-4, 1e-4])) / 10**digits):
            check = check_for(truth, digits=digits)
            assert check(float(f"{truth:.{digits}e}")) == "right"
            for way in (-1, 1):
                assert check(truth * math.exp(way * near)) == "right"
                assert check(truth * math.exp(way * far)) == "not yet"


def test_each_answer_has_its_place():
    check = check_for(0.1, "add")
    assert check(0.1, "add") == "right"
    assert check(0.1, ...) == check(0.1, "remove") == "not yet: answer 2"
    assert check(..., "add") == check(0.2, "add") == "not yet: answer 1"
    assert check("add", 0.1) == "not yet: answers 1, 2"
    assert check(..., ...) == "no answer yet"
    for answers in [(), (0.1,), (0.1, "add", 1)]:
        with pytest.raises(ValueError, match="answers must be 2, got"):
            check(*answers)


@pytest.mark.parametrize(
    "answer",
    ["0.2", " -3", ".5", "1/2", "1e-5", "20 %", "inf", "-Infinity", "nan"],
)
def test_a_number_in_quotes_is_refused(answer):
    for truth in (0.2, "upper"):
        with pytest.raises(ValueError, match="answer must be a number witho"):
            check_for(truth)(answer)
    with pytest.raises(ValueError, match="answer must be a number without"):
        digest("ex-test", answer)


@pytest.mark.parametrize(
    "answer", [None, [0.2], (), {}, np.array([0.1, 0.2]), 1j, math.sqrt]
)
def test_what_is_neither_number_nor_word_is_refused(answer):
    for check, rest in ((check_for(0.2), ()), (check_for("a", "b"), ("b",))):
        with pytest.raises(ValueError, match="answer must be one number, a w"):
            check(answer, *rest)


def test_an_answer_has_another_digest_in_another_exercise():
    assert digest("ex-one", "neither") != digest("ex-two", "neither")
