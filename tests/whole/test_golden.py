"""The answers of golden.py: bit by bit, where arithmetic is the same."""

import pytest

from tests.whole import golden

EXACTLY, QUESTIONS = golden.stored()


@pytest.mark.in_turn(9)
@pytest.mark.parametrize("start", range(0, len(QUESTIONS), 50))
def test_answers_stay_as_they_are(start):
    found = golden.differing(QUESTIONS[start : start + 50], EXACTLY)
    assert not found, "\n".join(found)


def test_there_are_2000_questions():
    assert len(QUESTIONS) == golden.COUNT
