"""The search for runs whose worse direction is add: search/directions.py."""

import csv
import importlib
import sys

import pytest

from tests import ROOT

SEARCH = ROOT / "search"
ROWS, CONTROL, SEED = 10_000, 1_000, 12
# Some rows of each mechanism, in the order of rows.
SAMPLE = [*range(0, ROWS, 500), *range(ROWS, ROWS + CONTROL, 100)]


@pytest.fixture(scope="module")
def search():
    """The module; workers of joblib find it in the path, too."""
    sys.path.insert(0, str(SEARCH))
    try:
        yield importlib.import_module("directions")
    finally:
        sys.path.remove(str(SEARCH))


@pytest.fixture(scope="module")
def table(search):
    """The committed file, with numbers read as numbers."""
    kinds = (str, int, float, float, int, str, float, float)
    with search.RESULTS.open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    assert tuple(head) == search.COLUMNS
    return [
        tuple(kind(word) for kind, word in zip(kinds, line, strict=True))
        for line in lines
    ]


def test_the_file_is_complete_and_sorted(search, table):
    assert [row[:2] for row in table] == [
        task[:2] for task in search.tasks(ROWS, SEED)
    ]
    assert len(table) == ROWS + CONTROL
    assert search.RESULTS.stat().st_size < 1.2e6


def test_settings_are_in_their_ranges(search, table):
    for mechanism, _, noise, rate, count, _, epsilon, margin in table:
        if mechanism == search.GAUSSIAN:
            assert 0.3 <= noise <= 10 and 1e-4 <= rate <= 0.9
            assert 1 <= count <= 10_000
        else:
            assert 0.3 <= noise <= 3 and 0.05 <= rate <= 0.95
            assert 1 <= count <= 32
        assert epsilon > 0 and margin >= 0


def test_verdicts(search, table):
    verdicts: dict[str, list[str]] = {search.GAUSSIAN: [], search.LAPLACE: []}
    for row in table:
        verdicts[row[0]].append(row[5])
    known = {"counterexample", "no counterexample", "undecided"}
    assert "counterexample" not in verdicts[search.GAUSSIAN]
    assert verdicts[search.LAPLACE].count("counterexample") > CONTROL / 10
    assert {word for row in table for word in row[5:6]} <= known
    for found in verdicts.values():
        assert found.count("undecided") < len(found) / 10


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("row", SAMPLE)
def test_a_row_can_be_replayed(search, table, row):
    """What is the same on every machine, and what is not.

    The six digits of a setting are. Newer or older numpy and scipy, and
    processors without AVX, change margins by 2e-5 of themselves, but for
    margins near rounding, and they may decide otherwise where an interval
    only just fails to decide. The deltas that are compared are those of a
    grid up to an epsilon of which 1 % may be missing: a margin moves by as
    much when the engine chooses other grids. `make search` writes the file
    again; then margins agree to 1e-3.
    """
    old = table[row]
    new = search.check_row(old[0], row, SEED)
    assert new[:5] == old[:5]
    if old[5] != "undecided" and old[7] > 1e-4:
        assert new[5] == old[5]
        # Huge margins stand for an add delta of about 0.
        assert min(new[7], 1e6) == pytest.approx(
            min(old[7], 1e6), rel=1e-2, abs=1e-3
        )
    else:  # proven or not, but never the contrary
        assert {old[5], new[5]} != {"counterexample", "no counterexample"}


def test_settings_with_epsilon_zero_are_drawn_again(search, monkeypatch):
    answers = iter([ValueError("epsilon is 0 at delta = 1e-6"), None])
    seen = []

    def check(release):
        seen.append(release)
        if error := next(answers):
            raise error
        return search.no_worst_data.DirectionCheck("undecided", 1.0, 0.5)

    monkeypatch.setattr(search.no_worst_data, "check_directions", check)
    row = search.check_row(search.GAUSSIAN, 0, SEED)
    assert len(seen) == 2 and seen[0] != seen[1]
    assert row[2:5] == (
        seen[1].mechanism.noise_multiplier,
        seen[1].sampling.rate,
        seen[1].count,
    )
    answers = iter([ValueError("rate must be")])
    with pytest.raises(ValueError, match="rate"):
        search.check_row(search.GAUSSIAN, 0, SEED)


@pytest.fixture(scope="module")
def few(search):
    """Six tasks of both mechanisms, and their rows by a plain loop."""
    todo = search.tasks(ROWS, SEED)
    todo = [*todo[:4], *todo[ROWS : ROWS + 2]]
    return todo, [search.check_row(*task) for task in todo]


@pytest.mark.in_turn(3)
def test_two_processes_give_the_same_rows(search, few):
    pytest.importorskip("joblib")
    from joblib.externals.loky import get_reusable_executor

    todo, expected = few
    # Workers of an earlier test would not have the module in their path.
    get_reusable_executor().shutdown(wait=True)
    try:
        assert search.sweep(todo, "loky", 2) == expected
    finally:
        get_reusable_executor().shutdown(wait=True)


def test_dask_gives_the_same_rows(search, few):
    pytest.importorskip("joblib")
    distributed = pytest.importorskip("distributed")
    todo, expected = few
    options = {"n_workers": 1, "threads_per_worker": 2}
    with (
        distributed.Client(
            processes=False, dashboard_address=None, **options
        ) as client,
        search.workers("dask", client.scheduler.address, 2),
    ):
        assert search.sweep(todo, "dask", 2) == expected


def test_the_command_writes_the_file(search, tmp_path, capsys, monkeypatch):
    """All but the sweep itself."""
    rows = [
        ("gaussian", 0, 1.5, 0.25, 3, "no counterexample", 0.5, 0.01),
        ("gaussian", 1, 1.5, 0.25, 4, "undecided", 0.5, 0.125),
        ("laplace", 2, 0.5, 0.25, 3, "counterexample", 0.5, 0.03),
    ]
    monkeypatch.setattr(search, "sweep", lambda *_: rows)
    path = tmp_path / "found.csv"
    search.main(["--rows", "2", "--out", str(path)])
    lines = path.read_text().splitlines()
    assert lines[0] == ",".join(search.COLUMNS)
    assert lines[2] == "gaussian,1,1.5,0.25,4,undecided,0.5,0.125"
    told = capsys.readouterr().out
    assert "gaussian: 1 no counterexample, 1 undecided" in told
    assert "largest margin, counterexample: 0.03" in told
    assert "row 2 (noise 0.5, rate 0.25, count 3)" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--backend threads", "invalid choice"),
        ("--jobs 0", "must be at least 1"),
        ("--jobs two", "invalid whole number"),
        ("--rows 0", "must be at least 1"),
        ("--rows 1e4", "invalid whole number"),
        ("--seed -1", "must be at least 0"),
        ("--scheduler tcp://host:8786", "needs --backend dask"),
        ("--out no/such/folder/x.csv", "no folder"),
    ],
)
def test_bad_options_are_refused(search, capsys, words, message):
    with pytest.raises(SystemExit) as stop:
        search.arguments(words.split())
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
