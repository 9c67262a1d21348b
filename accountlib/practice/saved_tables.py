# Generated from notebooks/practice/saved_tables.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Tables that travel

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $p_i$, $p_\infty$ | `mass`, `infinity` | masses of grid losses and of the infinite loss |
| $p^*_i$ | – | the masses that the maker promises a bound for |
| $\tau$ | `misplaced`, `amount` | mass that may be at a wrong place |
| $u$ | `UNIT` | $2^{-53}$, the rounding unit of floats |
"""

import hashlib
import io
import json
import math
import operator
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from accountlib.counting.loss_tables import (
    MOST_CELLS,
    GridTooFine,
    PrivacyLossDistribution,
)
from accountlib.gaussian_dp.report import PrivacyReport, software_versions
from accountlib.inputs import (
    Floats,
    check_choice,
    check_kind,
    check_number,
    front_door,
)
from accountlib.proofs.certificates import Certificate
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "without_largest",
    "table_field",
    "pmf_masses",
    "OFF",
    "ROUNDED",
    "from_pld_pmf",
    "to_pld_pmf",
    "FORMAT",
    "FORMAT_VERSION",
    "FIRST_INDEX",
    "MOST_BYTES",
    "table_digest",
    "table_head",
    "table_from",
    "save_table",
    "read_npz",
    "read_json",
    "load_table",
    "with_certificate",
]

# --- What another library's table is


def without_largest(
    mass: Floats, infinity: float, amount: float
) -> tuple[Floats, float]:
    r"""Masses without the largest losses, as much as is asked for.

    Parameters: `mass` ($p_i \ge 0$), by increasing loss; `infinity`
    ($p_\infty$), taken first; `amount` ($\tau \ge 0$).
    Returns: smaller masses; at least `amount` is gone, or all.
    Source: lemma "Misplaced mass".

    >>> without_largest(np.array([0.5, 0.25]), 0.25, 0.375)
    (array([0.5  , 0.125]), 0.0)
    """
    if amount <= 0:
        return mass, infinity
    above = np.append(np.cumsum(mass[:0:-1])[::-1], 0.0)
    above = (above + infinity) * (1 - 4 * UNIT * (len(mass) + 2))
    taken = np.minimum(mass, np.maximum(amount * (1 + 4 * UNIT) - above, 0))
    left = np.where(taken > 0, (mass - taken) * (1 - 4 * UNIT), mass)
    return left, max(0.0, infinity - amount) * (1 - 4 * UNIT)


def table_field(pmf: Any, name: str) -> Any:
    """A field of another library's table.

    Raises: ValueError naming the field, if there is none.

    >>> table_field(1j, "imag")
    1.0
    """
    try:
        return getattr(pmf, name)
    except AttributeError:
        raise ValueError(
            f"pmf must be a dense or sparse PLDPmf with a field {name}, got "
            f"{pmf!r}"
        ) from None


def pmf_masses(pmf: Any, step: float) -> tuple[int, Floats]:
    """First index and masses of another library's table.

    Parameters: `pmf`, a dense or a sparse table; `step`, for messages.
    Returns: the index of the first mass; masses, 0 where none is given.
    Raises: ValueError for what are no whole indices and finite masses;
    GridTooFine for more than `MOST_CELLS` places.

    >>> from types import SimpleNamespace
    >>> pmf_masses(SimpleNamespace(_loss_probs={2: 0.75, 0: 0.25}), 1.0)
    (0, array([0.25, 0.  , 0.75]))
    """
    try:
        if hasattr(pmf, "_loss_probs"):
            places = [operator.index(k) for k in pmf._loss_probs]
            masses = np.array(list(pmf._loss_probs.values()), np.float64)
        else:
            masses = np.array(table_field(pmf, "_probs"), np.float64)
            start = operator.index(table_field(pmf, "_lower_loss"))
            places = list(range(start, start + masses.size))
        first, last = min(places), max(places)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(
            f"pmf must have masses at whole multiples of a step: {error}"
        ) from None
    if last - first >= MOST_CELLS:
        raise GridTooFine(step, last - first + 1)
    if masses.ndim != 1 or not np.all(np.isfinite(masses)):
        raise ValueError(f"masses of pmf must be finite numbers, got {masses}")
    table = np.zeros(last - first + 1)
    table[[place - first for place in places]] = masses
    return first, table


OFF = 0.01  # masses whose sum is farther from 1 are no law
ROUNDED = 2.0**-48  # what rounding may leave of a sum of 1


@front_door
def from_pld_pmf(
    pmf: Any, *, misplaced: float = 0.0
) -> PrivacyLossDistribution:
    r"""A table of dp-accounting as one of ours, on its own side.

    Formula: masses and losses as they are. Upper: `misplaced`, and what is
    missing to a sum of 1, goes to infinity. Lower: it, negative masses and
    an excess over 1 are taken from the largest losses.

    Parameters: `pmf`, a DensePLDPmf or SparsePLDPmf of one direction (the
    `_pmf_remove` or `_pmf_add` of its PrivacyLossDistribution), read by
    its fields; `misplaced` ($\tau$ in [0, 1]), the mass that its maker may
    have at wrong places or cut off: Fourier transforms there do not count
    their rounding. With 0 the table is taken at its word.
    Returns: a table, "upper" for a pessimistic one and else "lower": a
    bound on that side, if the other library's was one but for `misplaced`.
    Raises: ValueError for what is no such table, or whose masses are no
    law; GridTooFine for more than `MOST_CELLS` places.
    Source: lemma "Misplaced mass".

    >>> from types import SimpleNamespace
    >>> pmf = SimpleNamespace(_discretization=1.0, _infinity_mass=0.0)
    >>> pmf._loss_probs, pmf._pessimistic_estimate = {0: 0.25, 1: 0.75}, True
    >>> from_pld_pmf(pmf).mass
    array([0.25, 0.75])
    """
    step = check_number(
        "_discretization", table_field(pmf, "_discretization"), 0, np.inf, "()"
    )
    infinity = check_number(
        "_infinity_mass", table_field(pmf, "_infinity_mass"), 0, 1
    )
    misplaced = check_number("misplaced", misplaced, 0, 1)
    upper = table_field(pmf, "_pessimistic_estimate")
    check_kind("_pessimistic_estimate", upper, (bool, np.bool_))
    first, given = pmf_masses(pmf, step)
    mass, negative = np.maximum(given, 0), -math.fsum(np.minimum(given, 0))
    total = math.fsum([*mass.tolist(), infinity])
    if negative > OFF or total > 1 + OFF or (upper and total < 1 - OFF):
        raise ValueError(
            "masses of pmf must be at least 0 and have the sum 1, got the "
            f"sum {total} and {-negative} of negative ones"
        )
    if upper:
        missing = 1 - total if total < 1 - ROUNDED else 0.0
        wrong = (missing + misplaced) * (1 + 4 * UNIT)
        infinity = min(1.0, (infinity + wrong) * (1 + 4 * UNIT))
    else:
        excess = total - 1 if total > 1 + ROUNDED else 0.0
        wrong = (misplaced + negative + excess) * (1 + 4 * UNIT)
        mass, infinity = without_largest(mass, infinity, wrong)
    return PrivacyLossDistribution(
        step, first, mass, infinity, "upper" if upper else "lower"
    )


def to_pld_pmf(table: PrivacyLossDistribution) -> dict[str, Any]:
    """A table of ours as the arguments of a DensePLDPmf of dp-accounting.

    Parameters: `table`.
    Returns: a dictionary with the same step, masses and side.
    Raises: ValueError if `table` is none.
    Error: none in the table; what is computed with it there has that
    library's rounding, which it does not count.

    >>> table = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> to_pld_pmf(table)["pessimistic_estimate"]
    True
    """
    check_kind("table", table, PrivacyLossDistribution)
    return {
        "discretization": float(table.step),
        "lower_loss": int(table.first_index),
        "probs": table.mass.copy(),
        "infinity_mass": float(table.infinity_mass),
        "pessimistic_estimate": table.bound in ("upper", "buckets-upper"),
    }


# --- Into a file and back

FORMAT = "accountlib loss table"
FORMAT_VERSION = 1
FIRST_INDEX = 2**52  # beyond, an index is no exact float
MOST_BYTES = 32 * MOST_CELLS + 10_000


def table_digest(head: Mapping[str, Any], mass: Floats) -> str:
    """SHA-256 of a head (but for its digest) and of masses.

    >>> table_digest({"step": 1}, np.ones(2))[:8]
    '96974289'
    """
    text = json.dumps({k: head[k] for k in sorted(head) if k != "digest"})
    data = np.ascontiguousarray(mass, dtype="<f8").tobytes()
    return hashlib.sha256(text.encode() + b"\0" + data).hexdigest()


def table_head(table: PrivacyLossDistribution) -> dict[str, Any]:
    """All of a table but its masses, with a digest of both.

    >>> table = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> table_head(table)["bound"]
    'upper'
    """
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "written_by": f"accountlib {dict(software_versions())['accountlib']}",
        "step": float(table.step).hex(),
        "first_index": int(table.first_index),
        "infinity_mass": float(table.infinity_mass).hex(),
        "bound": table.bound,
        "cells": len(table.mass),
    }
    return head | {"digest": table_digest(head, table.mass)}


def table_from(head: Any, mass: Floats) -> PrivacyLossDistribution:
    """The table of a head and masses, if nothing is wrong with them.

    Raises: ValueError, KeyError and TypeError for what is.

    >>> table = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> table_from(table_head(table), table.mass).first_index
    -1
    """
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']!r}")
    if head["format_version"] != FORMAT_VERSION:
        raise ValueError(
            f"format_version {head['format_version']!r}: this version of "
            f"accountlib reads {FORMAT_VERSION}"
        )
    first = head["first_index"]
    if type(first) is not int or abs(first) > FIRST_INDEX:
        raise ValueError(f"first_index {first!r}")
    table = PrivacyLossDistribution(
        float.fromhex(head["step"]),
        first,
        mass,
        float.fromhex(head["infinity_mass"]),
        head["bound"],
    )
    if set(head) != set(table_head(table)) or head["cells"] != len(mass):
        raise ValueError(f"fields {sorted(head)}, {len(mass)} masses")
    if len(mass) > MOST_CELLS:
        raise ValueError(f"{len(mass)} masses")
    if math.fsum([*mass.tolist(), table.infinity_mass]) > 1 + OFF:
        raise ValueError("masses with a sum above 1")
    if head["digest"] != table_digest(head, mass):
        raise ValueError("a digest that does not fit")
    return table


def save_table(table: PrivacyLossDistribution, path: str | Path) -> None:
    """Write a loss table into a file that `load_table` reads.

    Parameters: `table`; `path`, with the suffix ".npz" or ".json".
    Raises: ValueError for another suffix, and for a `table` that is none,
    is too large or has a sum above 1.

    >>> save_table(0.5, "table.npz")
    Traceback (most recent call last):
    ...
    ValueError: table must be a PrivacyLossDistribution, got 0.5
    """
    check_kind("table", table, PrivacyLossDistribution)
    path = Path(path)
    check_choice("suffix of path", path.suffix, (".npz", ".json"))
    head = table_head(table)
    table_from(head, table.mass)
    if path.suffix == ".json":
        masses = [float(p).hex() for p in table.mass]
        path.write_text(json.dumps(head | {"mass": masses}), "utf-8")
        return
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, head=np.array(json.dumps(head)), mass=table.mass
    )
    path.write_bytes(buffer.getvalue())


def read_npz(data: bytes) -> tuple[Any, Floats]:
    """Head and masses of an archive, nothing of it believed yet.

    Raises: ValueError and errors of zipfile, for what is no such archive.

    >>> read_npz(b"")
    Traceback (most recent call last):
    ...
    zipfile.BadZipFile: File is not a zip file
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = {x.filename: x.file_size for x in archive.infolist()}
    if set(sizes) != {"head.npy", "mass.npy"}:
        raise ValueError(f"members {sorted(sizes)}")
    if max(sizes.values()) > MOST_BYTES:
        raise ValueError(f"members of {sizes} bytes")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        head, mass = arrays["head"], arrays["mass"]
    if head.ndim != 0 or head.dtype.kind != "U":
        raise ValueError("a head that is no text")
    if mass.ndim != 1 or mass.dtype != np.float64:
        raise ValueError("masses that are no list of floats")
    return json.loads(str(head)), mass


def read_json(data: bytes) -> tuple[Any, Floats]:
    """Head and masses of a text, nothing of it believed yet.

    Raises: ValueError, KeyError and TypeError for what is no such text.

    >>> read_json(b'{"mass": ["0x1p-1"]}')
    ({}, array([0.5]))
    """
    head = json.loads(data.decode("utf-8"))
    if not isinstance(head, dict):
        raise ValueError("no object")
    masses = [float.fromhex(p) for p in head.pop("mass")]
    return head, np.array(masses, dtype=np.float64)


@front_door
def load_table(path: str | Path) -> PrivacyLossDistribution:
    """Read a loss table that `save_table` has written.

    Parameters: `path`, with the suffix ".npz" or ".json".
    Returns: the same table, bit by bit, with its side.
    Raises: ValueError for a file that is cut, changed, of another format
    or of a newer version; OSError for one that cannot be read. The digest
    guards against accidents: who writes files may write digests, too.
    Error: none.

    >>> load_table("table.txt")
    Traceback (most recent call last):
    ...
    ValueError: suffix of path must be one of ('.npz', '.json'), got '.txt'
    """
    path = Path(path)
    check_choice("suffix of path", path.suffix, (".npz", ".json"))
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} must have at most {MOST_BYTES} bytes")
    data = path.read_bytes()
    try:
        read = read_json if path.suffix == ".json" else read_npz
        return table_from(*read(data))
    except Exception as error:  # whatever a broken file makes of its readers
        raise ValueError(
            f"{path} must be a table written by save_table: {error!r}"
        ) from error


# --- A report and its certificate


def with_certificate(
    report: PrivacyReport, certificate: Certificate
) -> PrivacyReport:
    """The report of a run, whose notes name a certificate of it.

    Parameters: `report`; `certificate` of the same run and neighbours.
    Returns: the report with the claim and the SHA-256 digest of the text
    of the certificate in its notes.
    Raises: ValueError for a certificate of something else.
    """
    for name in ("releases", "adjacency", "group_size"):
        mine, other = getattr(report, name), getattr(certificate, name)
        if mine != other:
            raise ValueError(
                f"certificate must be about the {name} of the report, "
                f"{mine!r}, got {other!r}"
            )
    digest = hashlib.sha256(certificate.to_json().encode()).hexdigest()
    named = f"certificate: {certificate}, SHA-256 {digest}"
    kept = "" if report.notes == "none" else f"{report.notes}; "
    return replace(report, notes=kept + named)
