# Generated from notebooks/exercises.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Right or wrong?"""

import hashlib
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from types import EllipsisType

import numpy as np

__all__ = [
    "Answer",
    "spellings",
    "word_of",
    "number_of",
    "digest",
    "hash_of",
    "Check",
]

# --- Code: what counts as equal

Answer = bool | str | float | Fraction | EllipsisType  # dots: none yet


def spellings(answer: Answer, digits: int) -> list[str]:
    """How an answer may be written, the likeliest first.

    >>> spellings(" Upper", 3), spellings(False, 3), spellings(0, 3)
    (['upper'], ['false'], ['0.0'])
    >>> spellings(0.375, 3)
    ['cell -981', 'cell -982', 'cell -980']
    """
    if isinstance(answer, (bool, np.bool_, str, EllipsisType)):
        return [word_of(str(answer))]
    number = number_of(answer)
    if number == 0 or not math.isfinite(number):
        return [str(number + 0.0)]  # 0.0 for -0.0, too
    cell = round(math.log(abs(number)) * 10**digits)
    sign = "-" if number < 0 else ""
    return [f"{sign}cell {cell + n}" for n in (0, -1, 1)]


def word_of(answer: str) -> str:
    """A word without capitals and outer spaces.

    >>> word_of(" Upper")
    'upper'
    """
    word = answer.strip().lower()
    if re.match(r"[-+]?(\.?\d|(inf|infinity|nan)$)", word):
        raise ValueError(
            "answer must be a number without quotes, such as 0.2 or math.inf, "
            f"or a word, got {answer!r}"
        )
    return word


def number_of(answer: float | Fraction) -> float:
    """A number as a float; a list, None or a function is no answer."""
    try:
        return float(answer)
    except (TypeError, OverflowError):
        raise ValueError(
            "answer must be one number, a word in quotes, True or False, "
            f"got {answer!r}"
        ) from None


def digest(exercise: str, *answers: Answer, digits: int = 3) -> str:
    """The digests of answers, for a `Check`.

    >>> digest("ex-demo", 3 / 8, "upper")
    '82a31e 2e7e56'
    """
    words = (spellings(answer, digits)[0] for answer in answers)
    return " ".join(hash_of(exercise, word) for word in words)


def hash_of(exercise: str, word: str) -> str:
    return hashlib.sha256(f"{exercise} {word}".encode()).hexdigest()[:6]


# --- Code: the check of an exercise


@dataclass(frozen=True)
class Check:
    r"""Says whether answers are right, and cannot say what is right.

    Parameters: `exercise`, its label; `digests`, one word for each of its
    answers, with spaces between, as `digest` makes them; `digits` (d >= 1):
    numbers agree if their logarithms differ by less than 10^-d, and never if
    by 2 * 10^-d or more.
    Call it with the answers, in their order: numbers, fractions, words in
    quotes, truth values. Returns: "right", "no answer yet", or "not yet",
    with the places of the answers that are not right if there are several.
    Raises: ValueError for another number of answers, for a number in quotes,
    and for an answer of another kind.

    >>> check = Check("ex-demo", "82a31e 2e7e56", digits=3)
    >>> check(..., ...), check(0.5, "upper"), check(0.3751, "upper")
    ('no answer yet', 'not yet: answer 1', 'right')
    """

    exercise: str
    digests: str
    digits: int = 3

    def __call__(self, *answers: Answer) -> str:
        digests = self.digests.split()
        if len(answers) != len(digests):
            raise ValueError(
                f"answers must be {len(digests)}, got {len(answers)}"
            )
        if all(answer is ... for answer in answers):
            return "no answer yet"
        fits = map(self.fits, answers, digests)
        wrong = [str(n) for n, fit in enumerate(fits, 1) if not fit]
        if not wrong:
            return "right"
        if len(answers) == 1:
            return "not yet"
        word = "answer" if len(wrong) == 1 else "answers"
        return f"not yet: {word} {', '.join(wrong)}"

    def fits(self, answer: Answer, digest: str) -> bool:
        """Whether this is an answer with this digest, or close to it."""
        written = spellings(answer, self.digits)
        return digest in (hash_of(self.exercise, word) for word in written)
