"""The consistent assignments of answers to predicates about one file.

Predicates about size, lifespan and access depend on the same few quantities: an empty file does not
grow above 16 kB, and one that lives for at most a second lives for at most five. So each is
evaluated on representative lives: every combination of sizes and lifespans on either side of any
predicate's bounds, and of access patterns. Their answers are the consistent assignments; any other
combination of answers is a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product

import pyarrow as pa

from birthmark.data.common.durations import SECOND
from birthmark.data.schema import TIME
from birthmark.predictor.predicates import HEAT_PREDICATES, Predicate, Subject
from birthmark.predictor.predicates.rules import (
    in_ranges,
    lock,
    read_after_write,
    read_only,
    write_only,
    written_after_read,
)

Assignments = dict[str, list[bool]]
"""A truth table: by key the answers of a predicate in every assignment; lists of equal length."""

_RULES = (lock, write_only, read_only, read_after_write, written_after_read)
_HOT_NAME = HEAT_PREDICATES["HotName"].rule
_OWN_LIFESPAN = 5 * SECOND  # that of locks and of HotName

_RATIOS = ((10, 1), (1, 1), (1, 21))
_ACCESSES = [(0, 0, 0), *((*ratio, accessed) for ratio in _RATIOS for accessed in (0, 2))]
"""Writes, reads, and access time; the modification time is 1."""


def assignments_of(predicates: Mapping[str, Predicate]) -> list[Assignments]:
    """Return the assignments of ``predicates`` (by key), one table per subject.

    Predicates with arbitrary rules are left out: their relation to others is unknown.
    """
    tables = []
    for subject in ("file", "name"):
        related = {k: p for k, p in predicates.items() if p.subject == subject and _is_known(p)}
        if related:
            tables.append(_assignments(related, subject))
    return tables


def premises(assignments: Iterable[Assignments], answers: Mapping[str, str], key: str) -> list[str]:
    """Return the predicates whose answers imply a yes to ``key``.

    It is a single one, if that is enough, or else all in its group that are answered yes or no.
    """
    group = next((table for table in assignments if key in table), {})
    decided = {
        other: (answers[other] == "yes")
        for other in group
        if other != key and answers.get(other) in ("yes", "no")
    }
    for other, yes in decided.items():
        if all(holds for has, holds in zip(group[other], group[key], strict=True) if has is yes):
            return [other]
    return list(decided)


def _is_known(predicate: Predicate) -> bool:
    return predicate.rule in (*_RULES, _HOT_NAME) or _ranges(predicate) is not None


def _ranges(predicate: Predicate) -> Mapping[str, tuple[int | None, int | None]] | None:
    rule = predicate.rule
    return rule.keywords if isinstance(rule, partial) and rule.func is in_ranges else None


def _assignments(predicates: Mapping[str, Predicate], subject: Subject) -> Assignments:
    lives = _lives(predicates.values(), subject)
    answers = [predicate.evaluate(lives).to_pylist() for predicate in predicates.values()]
    distinct = dict.fromkeys(zip(*answers, strict=True))
    return dict(zip(predicates, map(list, zip(*distinct, strict=True)), strict=True))


def _lives(predicates: Iterable[Predicate], subject: Subject) -> pa.Table:
    """Return lives with all combinations of the quantities that the predicates depend on."""
    known = [ranges for p in predicates if (ranges := _ranges(p)) is not None]
    sizes = _either_side(known, "size", {0})
    lifespans = _either_side(known, "lifespan", {_OWN_LIFESPAN})
    size, lifespan, access = zip(*product(sizes, lifespans, _ACCESSES), strict=True)
    writes, reads, accessed = zip(*access, strict=True)
    rows, prefix = len(size), "file_" if subject == "name" else ""
    return pa.table(
        {
            f"{prefix}max_size": pa.array(size, pa.uint64()),
            f"{prefix}writes": pa.array(writes, pa.uint64()),
            "reads": pa.array(reads, pa.uint64()),
            "born": pa.array([0] * rows, TIME),
            "died": pa.array(lifespan, TIME),
            "observed_until": pa.array(lifespan, TIME),
            "birth_seen": pa.array([True] * rows),
            "death_seen": pa.array([True] * rows),
            "atime": pa.array(accessed, TIME),
            "mtime": pa.array([1] * rows, TIME),
        }
    )


def _either_side(
    ranges: Iterable[Mapping[str, tuple[int | None, int | None]]], quantity: str, more: set[int]
) -> list[int]:
    """Return each bound, and the least value above it."""
    bounds = {bound for by in ranges for bound in by.get(quantity, ()) if bound is not None}
    return sorted({value for bound in bounds | more for value in (bound, bound + 1)})
