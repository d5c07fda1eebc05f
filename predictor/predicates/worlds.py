"""Which answers about one file can be true together.

Predicates about size, lifespan and access are questions about the same few quantities: an empty
file does not grow above 16 kB, and one that lives for a second lives for five. So each is asked of
lives that stand for all: of every combination of sizes and lifespans on either side of any
predicate's bounds, and of the ways to be read and written. What they answer are the worlds, and
answers that no world gives contradict each other.
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

Worlds = dict[str, list[bool]]
"""By the keys of predicates what each answers in every world; all lists are of one length."""

_RULES = (lock, write_only, read_only, read_after_write, written_after_read)
_HOT_NAME = HEAT_PREDICATES["HotName"].rule
_OWN_LIFESPAN = 5 * SECOND  # that of locks and of HotName

_RATIOS = ((10, 1), (1, 1), (1, 21))
_ACCESSES = [(0, 0, 0), *((*ratio, accessed) for ratio in _RATIOS for accessed in (0, 2))]
"""Writes, reads, and the time of access, where that of modification is 1."""


def worlds_of(predicates: Mapping[str, Predicate]) -> list[Worlds]:
    """Return the worlds of ``predicates`` (by key), those about each subject apart.

    Left out are those of which it is not known what they have to do with others.
    """
    found = []
    for subject in ("file", "name"):
        own = {k: p for k, p in predicates.items() if p.subject == subject and _is_known(p)}
        if own:
            found.append(_worlds(own, subject))
    return found


def _is_known(predicate: Predicate) -> bool:
    return predicate.rule in (*_RULES, _HOT_NAME) or _ranges(predicate) is not None


def _ranges(predicate: Predicate) -> Mapping[str, tuple[int | None, int | None]] | None:
    rule = predicate.rule
    return rule.keywords if isinstance(rule, partial) and rule.func is in_ranges else None


def _worlds(predicates: Mapping[str, Predicate], subject: Subject) -> Worlds:
    lives = _lives(predicates.values(), subject)
    answers = [predicate.evaluate(lives).to_pylist() for predicate in predicates.values()]
    distinct = dict.fromkeys(zip(*answers, strict=True))
    return dict(zip(predicates, map(list, zip(*distinct, strict=True)), strict=True))


def _lives(predicates: Iterable[Predicate], subject: Subject) -> pa.Table:
    """Return lives that differ in all that the predicates ask of."""
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
    known: Iterable[Mapping[str, tuple[int | None, int | None]]], what: str, more: set[int]
) -> list[int]:
    """Return each bound, and the least value above it."""
    bounds = {bound for ranges in known for bound in ranges.get(what, ()) if bound is not None}
    return sorted({value for bound in bounds | more for value in (bound, bound + 1)})
