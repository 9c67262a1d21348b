"""Answers that were proven before, as data: every engine must agree.

A line of data/oracle.jsonl: "epsilon" or "delta", the delta or epsilon it is
asked at, adjacency, group size, releases, ends of an interval that holds the
answer. A release is [mechanism, sampling, count]; the first two are public
names with their arguments. Intervals around one truth overlap.
"""

import functools
import json
from pathlib import Path

import pytest

import accountlib as al

FILE = Path(__file__).parent / "data" / "oracle.jsonl"


def questions():
    """(kind, at, adjacency, group_size, releases, lower, upper), in order."""
    for line in FILE.read_text("utf-8").splitlines():
        *question, lower, upper = json.loads(line)
        yield *question, float(lower), float(upper)


QUESTIONS = list(questions())


def run(words):
    """A Release, or a list of them."""
    if isinstance(words[0][0], list):
        return [run(release) for release in words]
    *parts, count = words
    return al.Release(*(getattr(al, x)(*rest) for x, *rest in parts), count)


@functools.cache
def answer(place):
    """Both ends by the engine under test, or what it raised, as text."""
    kind, at, adjacency, size, words, *_ = QUESTIONS[place]
    who = {"adjacency": adjacency, "group_size": size}
    given = {"delta": at} if kind == "epsilon" else {"epsilon": at}
    try:
        return tuple(getattr(al, kind)(run(words), **given, **who))
    except Exception as error:  # a chunk lists all that fails
        return f"{type(error).__name__}: {error}"


def width(lower, upper):
    """Relative to the upper end: 0 for one point, 1 up to infinity."""
    return 0.0 if lower == upper else 1 - lower / upper


def agrees(place):
    new, (low, high) = answer(place), QUESTIONS[place][-2:]
    if str(new).startswith("NotImplementedError: group_size"):
        return "ApproximateDP" in str(QUESTIONS[place])  # served no more
    return len(new) == 2 and max(new[0], low) <= min(new[1], high)


def show(places):
    lines = [f"{i + 1}: {QUESTIONS[i]}, now {answer(i)}" for i in places]
    return "\n".join([f"{len(lines)} lines of the file:", *lines[:200]])


@pytest.mark.parametrize("chunk", range(60))  # files of many tests go first
def test_intervals_overlap(chunk):
    places = range(chunk, len(QUESTIONS), 60)
    wrong = [i for i in places if not agrees(i)]
    assert not wrong, show(wrong)


def test_narrow_answers_stay_narrow():
    """74 in 75 of them; below 1e-100 none matters, and records that are
    zeroed in fixed batches have a pair of their own in `beyond`."""
    narrow = [i for i, x in enumerate(QUESTIONS) if width(*x[-2:]) <= 1e-3]
    found = {i: width(*answer(i)) for i in narrow if len(answer(i)) == 2}
    wide = [i for i in found if found[i] > 1.05e-3 and answer(i)[1] > 1e-100]
    wide = [i for i in wide if QUESTIONS[i][2] != "zero-out"]
    wide.sort(key=found.get, reverse=True)
    assert len(wide) <= len(narrow) / 75, show(wide)
