"""A small sample of the checks of benchmarks/checks.py."""

import importlib
import math
from itertools import islice

import pytest

COUNT = 20  # of each kind


@pytest.fixture(scope="module")
def checks():
    return importlib.import_module("benchmarks.checks")


@pytest.mark.in_turn(3)
def test_random_settings_in_high_precision(checks):
    found = [
        checks.check(question)
        for question in islice(checks.precise_questions(seed=2), 5 * COUNT)
    ]
    answers = [answer for answer in found if answer is not None]
    assert len(answers) > 4 * COUNT
    assert not [a for a in answers if a.failure or checks.wrong(a)]
    assert {answer.question.query for answer in answers} == {
        "delta",
        "epsilon",
    }


def test_random_settings_against_the_contour(checks):
    """Where a record is used sometimes: there, the contour is fast."""
    questions = (
        question
        for question in checks.contour_questions(seed=3)
        if all(r * n > 1 and n < 1e6 for _, r, n in question.facts["steps"])
    )
    found = (checks.check(question) for question in questions)
    answers = list(islice((a for a in found if a is not None), COUNT))
    assert not [a for a in answers if a.failure or checks.wrong(a)]


def test_a_wrong_interval_is_found(checks):
    question = checks.Question("gaussian", "epsilon", 0.1, "add")
    for lower, upper, verdict in [
        (1.0, 2.0, False),
        (1.5, 1.5, False),
        (1.6, 2.0, True),
        (1.0, 1.4, True),
        (math.nan, math.nan, True),
    ]:
        answer = checks.Answer(question, lower, upper, 1.49, 1.51)
        assert checks.wrong(answer) is verdict
