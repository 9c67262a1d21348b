"""Random questions, ordinary and hostile: lower <= truth <= upper.

    python -m tests.test_random 1000 7 hostile

asks so many with a seed, and prints what came of it.
"""

import signal
import sys
import time
from collections import Counter

import numpy as np
import pytest

import accountlib as al
from tests.settings import hostile, ordinary, violation
from tests.truth import NoTruth

KINDS = {"ordinary": ordinary, "hostile": hostile}
SEEDS, EACH = range(8), 10
WIDE = 1e-3


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


# --- many, from the command line --------------------------------------------


class TooLong(Exception):
    pass


def timed(seconds, function, *arguments):
    """The result or the exception, and the time."""

    def stop(signum, frame):
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        found = function(*arguments)
    except Exception as error:
        found = error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found, time.perf_counter() - start


def verdict(setting, bound):
    """One word, and what there is to say."""
    if isinstance(bound, Exception):
        return type(bound).__name__, str(bound), 0.0
    wrong, spent = timed(5, violation, setting, bound.lower, bound.upper)
    unknown = isinstance(wrong, Exception)
    if wrong and not unknown:
        return "VIOLATION", str(wrong), spent
    useless = (0, 1) if setting.question == "delta" else (0, float("inf"))
    if (bound.lower, bound.upper) == useless:
        return "useless", "", spent
    if unknown:
        return "no truth", str(wrong), spent
    return "wide" if bound.width > WIDE else "ok", "", spent


def main(count, seed, kind="ordinary"):
    rng = np.random.default_rng([int(seed), len(kind)])
    words, families, slow = Counter(), Counter(), []
    truths = []
    for i in range(int(count)):
        try:
            setting = KINDS[kind](rng)
        except OverflowError:  # of a truth that a setting begins with
            continue
        bound, spent = timed(20, ask, setting)
        word, reason, more = verdict(setting, bound)
        words[word] += 1
        families[setting.family, word] += 1
        slow.append((spent, i))
        truths.append(more)
        if i % 500 == 499:
            print(i + 1, dict(words), flush=True)
        if word not in ("ok", "wide", "no truth"):
            print(i, word, reason, bound, setting, flush=True)
    print(dict(words))
    for key in sorted(families):
        print(*key, families[key])
    print("slowest", sorted(slow)[-5:], "truth", sum(truths) / len(truths))


if __name__ == "__main__":
    main(*sys.argv[1:])
