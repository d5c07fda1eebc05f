"""Outcomes are counted at the same age for every file, whatever becomes of it.

Early outcomes differ from late ones: whether a file lives for more than 30 s is known at once for
those that die, but only after 30 s for those that live on. If each were counted as soon as it is
known, the first outcomes would all be deaths, and any threshold would seem good. So a predicate has
a *horizon*, the age at which every life is counted:

- lifespan: the first of ``MARKS`` at which all lives are decided (``lifespan<=30``: 30 s);
- size: ``YOUNG`` (5 s), with the file's size then or at its death. In a captured day 0.1% of the
  files later grow over a bound of the built-in predicates. The names table has only the last size
  of a name's file, which is used instead;
- use: the last of ``MARKS`` (30 s), with the file's use then or at its death. In three captured
  days of 5 minutes the later answer differs for 0.8 to 2.4% of the files (``amtime``), 1.5 to 3.7%
  (``write-only``) and 0.1% (``HotWrite``). The share of false positives differs by 0.1 points at
  most, as answers of yes are rarely among these;
- users' expressions and functions have none: they are counted at the death, or when observation
  ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.common.durations import SECOND
from birthmark.data.schema import TIME
from birthmark.predictor.predicates import HEAT_PREDICATES, Predicate, rules

MARKS = (1 * SECOND, 5 * SECOND, 30 * SECOND)
"""Ages at which a follower evaluates a life, microseconds."""

YOUNG = 5 * SECOND
"""The age of the early size and use in the files table and a follower (columns ``early_…``)."""

UNKNOWN = np.iinfo(np.int64).max
"""The time of an outcome that the trace never shows."""

USES = {
    "max_size": "size",
    "reads": "reads",
    "writes": "writes",
    "bytes_written": "bytes_written",
    "atime": "atime",
    "mtime": "mtime",
}
"""The columns of use in the files table, and in ``LiveHistory.take_outcomes``."""

_AT_AGE = {YOUNG: "early_", MARKS[-1]: "used_"}
_OF_USE = (
    rules.write_only,
    rules.read_only,
    rules.read_after_write,
    rules.written_after_read,
    HEAT_PREDICATES["HotWrite"].rule,
)


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of births for one predicate.

    ``known_at`` are their times (microseconds since the epoch; ``UNKNOWN``: never), and ``truths``
    the answers at those times.
    """

    known_at: Ints
    truths: Bools


def horizon(predicate: Predicate) -> int | None:
    """Return the age at which a predicate's outcomes are counted, microseconds; None: the end."""
    rule = predicate.rule
    if rule in _OF_USE:
        return MARKS[-1]
    if rule in (rules.lock, HEAT_PREDICATES["HotName"].rule):
        return YOUNG
    if not (isinstance(rule, partial) and rule.func is rules.in_ranges):
        return None
    sized = any(bound is not None for bound in rule.keywords.get("size", ()))
    age = max((bound for bound in rule.keywords.get("lifespan", ()) if bound), default=0)
    age = max(age, YOUNG if sized else 0)
    return next((mark for mark in MARKS if mark >= age), None)


def outcomes(births: pa.Table, predicates: Mapping[str, Predicate]) -> dict[str, Outcomes]:
    """Return by key the outcomes of ``births`` (``predictor.births``) for the control.

    ``births`` is a table of files or of names; the ``predicates`` are about these. Columns
    ``used_…``, named as ``early_…`` are, have the use at the last of ``MARKS``; without them the
    last use stands for it.
    """
    return {key: _outcomes(births, predicate) for key, predicate in predicates.items()}


def answers_at_horizon(lives: pa.Table, predicate: Predicate) -> pa.Array:
    """Return a predicate's answers for ``lives`` as observed when each was as old as its horizon.

    Use is judged as if each life had ended then: a no would else stay unknown to ``HotWrite``.
    """
    if predicate.rule in _OF_USE:
        place = lives.schema.get_field_index("death_seen")
        lives = lives.set_column(place, "death_seen", pa.repeat(True, len(lives)))
    return predicate.evaluate(lives)


def _outcomes(births: pa.Table, predicate: Predicate) -> Outcomes:
    age = horizon(predicate)
    born, until = (births[name].cast(pa.int64()).to_numpy() for name in ("born", "observed_until"))
    truths = predicate.evaluate(births)
    at = until
    if age is not None:
        older = until - born > age
        truths = pc.if_else(
            pa.array(older), answers_at_horizon(_at_age(births, age), predicate), truths
        )
        dead = births["death_seen"].to_numpy()
        at = np.where(older | dead, born + age, until)
    known = truths.is_valid().to_numpy(zero_copy_only=False)
    values = pc.fill_null(truths, False).to_numpy(zero_copy_only=False)
    return Outcomes(np.where(known, at, UNKNOWN), values)


def _at_age(births: pa.Table, age: int) -> pa.Table:
    """Return the lives as observed when each was just older than ``age`` and alive."""
    now = pc.add(births["born"], pa.scalar(age + 1, pa.duration("us"))).cast(TIME)
    columns = {
        "observed_until": now,
        "died": pa.nulls(len(births), TIME),
        "death_seen": pa.repeat(False, len(births)),
    }
    for name, use in USES.items():
        if (known := _AT_AGE.get(age, "") + use) in births.column_names:
            columns[name] = births[known].cast(births.schema.field(name).type)
    for name, column in columns.items():
        births = births.set_column(births.schema.get_field_index(name), name, column)
    return births
