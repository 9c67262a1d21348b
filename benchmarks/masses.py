"""Compare the masses of every class of pair with ball arithmetic.

    python -m benchmarks.masses                 20,000 intervals a class
    python -m benchmarks.masses --count 1000 --seed 2

Prints the worst error of each class, as a part of the relative error that its
pairs state; more than 0.5 breaks the contract of chapter 2.
"""

import argparse
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported
from tests.worst_cases.families import FAMILIES, compare


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    broken = 0
    for name, family in FAMILIES.items():
        start = time.perf_counter()
        worst, case = compare(family, options.count, options.seed)
        seconds = time.perf_counter() - start
        print(f"{name:24} {worst:.3f}  {seconds:.0f} s", flush=True)
        if worst > 0.5:
            broken += 1
            print("   ", case)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
