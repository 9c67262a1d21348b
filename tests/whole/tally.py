"""Counts how wide the answers are, and how many hold the truth."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from dataclasses import dataclass

WIDTH = 1e-3


@dataclass
class Tally:
    """Violations, and intervals wider than asked for no stated reason."""

    violations: list
    wide: list
    answers: int = 0

    def add(self, bound, low, high, setting, excused):
        self.answers += 1
        if bound.lower > high or bound.upper < low:
            self.violations.append((setting, bound, low, high))
        elif bound.width > WIDTH and not excused:
            self.wide.append((setting, bound))

    def check(self, share):
        assert not self.violations, self.violations
        assert len(self.wide) <= share * self.answers, self.wide


def tally():
    return Tally([], [])
