"""Control that follows the traffic: it scores each birth, and counts its outcome when it is due.

A live history emits the births and outcomes (``LiveHistory.take_births`` and ``take_outcomes``).
Every birth is scored at each history scope, whether or not a client asks about it: so the counts do
not depend on the requests.

Predicates with a horizon (``predictor.control.outcomes``) are counted at that age of each life. A
follower learns the truth of users' expressions and functions only when the file dies, and would
count short lives before all others: their thresholds stay as calibrated. So do those of kinds whose
images count no sums (``ModelSet.least_sum``), because their thresholds cannot change.

If there are more births than room, some are dropped at random, independently of their outcomes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.data.common.durations import DAY
from birthmark.data.schema import TIME, filled
from birthmark.features.creates import CREATES
from birthmark.features.history_scope import (
    HISTORY_SCOPES,
    HistoryScope,
    history_scopes,
    mask_history,
)
from birthmark.predictor.answers.operating_points import NEVER
from birthmark.predictor.control.control import Control, Row
from birthmark.predictor.control.outcomes import (
    MARKS,
    UNKNOWN,
    USES,
    answers_at_horizon,
    horizon,
)
from birthmark.predictor.control.refresh import RecentBirths, Refresher
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates import Predicate
from birthmark.predictor.predicates.predicate import Subject

MOST_OPEN = 100_000
"""Greatest number of births with pending outcomes, of files and names together: some 100 MB."""

_SUBJECTS: tuple[Subject, ...] = ("file", "name")
_NONE: Ints = np.zeros(0, dtype=np.int64)
_USE_OF = {
    "file": USES,
    "name": {"file_max_size": "size", "file_writes": "writes"},
}
_USED = ("young", "used")


class FollowedControl:
    """Moves the thresholds of ``models`` by the outcomes of the files of one server.

    ``predicates`` are those of the models, by key. Outcomes of the day up to ``counted_until``
    (microseconds since the epoch), which ``control`` counted before, are not counted again; those
    of earlier days are, as the clock must have been set back. At most ``most`` births have pending
    outcomes; ``left_out`` counts the others. ``refresher`` gets the births and their outcomes, too.
    """

    def __init__(
        self,
        models: ModelSet[Any],
        predicates: Mapping[str, Predicate],
        control: Control,
        counted_until: int = 0,
        most: int = MOST_OPEN,
        refresher: Refresher | None = None,
    ) -> None:
        self.control, self.counted_until, self.left_out = control, counted_until, 0
        self._before = counted_until
        self._most, self._chance = most, np.random.default_rng(0)
        self._refresher = refresher
        self.models = models
        self._rows: dict[Row, None] = {}
        self._open: dict[str, deque[_Births]] = {subject: deque() for subject in _SUBJECTS}
        self._by_age: dict[str, dict[int, dict[str, Predicate]]] = {
            subject: {age: {} for age in MARKS} for subject in _SUBJECTS
        }
        for key, predicate in predicates.items():
            age = horizon(predicate)
            if key not in models or age is None or predicate.subject not in self._by_age:
                continue
            scopes = [
                scope for scope in HISTORY_SCOPES if models.least_sum(key, None, scope) is not None
            ]
            if scopes:
                self._by_age[predicate.subject][age][key] = predicate
                self._rows |= {(key, scope): None for scope in scopes}
        self._in_force = self.put_in_force()

    def put_in_force(self) -> dict[Row, float | None]:
        """Put the current thresholds in force for births to come; return those that can move."""
        now = self.control.thresholds()
        self._in_force = {row: now[row] for row in self._rows}
        return self._in_force

    def born(self, births: pa.Table) -> None:
        """Score births: ``subject``, ``id`` and ``features.CREATES``, with the history of then."""
        by_subject = {
            subject: births.filter(pc.equal(births["subject"].cast(pa.utf8()), subject))
            for subject in _SUBJECTS
        }
        for subject, rows in by_subject.items():
            keys = [key for predicates in self._by_age[subject].values() for key in predicates]
            if len(rows) and keys:
                files, admitted = _files(rows, by_subject["file"]), self._admitted(len(rows))
                rows = rows.filter(pa.array(admitted))
                births = self._scored(rows, keys, files[admitted])
                self._open[subject].append(births)
                if self._refresher is not None:
                    self._refresher.add(births.recent())
                every = np.ones(len(births.ids), dtype=bool)
                for row in self._rows_of(keys):
                    self.control.controllers[row].expect(*births.answers(row, every))

    def _rows_of(self, keys: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of predicates that can move."""
        rows = ((key, scope) for key in keys for scope in HISTORY_SCOPES)
        return (row for row in rows if row in self._rows)

    def _admitted(self, count: int) -> Bools:
        """Return which of ``count`` births to admit: all, until half of the room is taken."""
        pending = sum(len(births.ids) for queue in self._open.values() for births in queue)
        share = 2 * (1 - pending / self._most)
        admitted = self._chance.random(count) < share
        admitted[np.flatnonzero(admitted)[max(0, self._most - pending) :]] = False
        self.left_out += count - int(admitted.sum())
        return np.asarray(admitted)

    def _scored(self, births: pa.Table, keys: list[str], files: Ints) -> _Births:
        creates = filled(births, CREATES)
        scores = {
            scope: {
                key: np.asarray(column, dtype=np.float64)
                for key, column in self.models.scores(mask_history(creates, scope), keys).items()
            }
            for scope in HISTORY_SCOPES
        }
        in_force = {row: NEVER if t is None else t for row, t in self._in_force.items()}
        return _Births(
            ids=_numbers(births["id"]),
            files=files,
            born=_numbers(births["time"]),
            scope=history_scopes(creates).astype(np.int64),
            scores=scores,
            in_force=in_force,
            creates=creates,
            truths={key: np.full(len(births), np.nan) for key in keys},
        )

    def became(self, outcomes: pa.Table) -> None:
        """Record outcomes, with the columns of ``LiveHistory.take_outcomes``."""
        subjects, facts = (outcomes[name].cast(pa.utf8()) for name in ("subject", "fact"))
        for subject in _SUBJECTS:
            for fact in ("died", *_USED, "lost"):
                rows = outcomes.filter(pc.and_(pc.equal(subjects, subject), pc.equal(facts, fact)))
                for births in self._open[subject] if len(rows) else ():
                    births.became(fact, rows)
        for fact in _USED:
            rows = outcomes.filter(pc.and_(pc.equal(subjects, "file"), pc.equal(facts, fact)))
            for births in self._open["name"]:
                births.files_became(fact, rows)

    def count(self, clock: int) -> None:
        """Count the outcomes due at ``clock``, in the order of birth, predicate by predicate.

        ``clock`` is in microseconds since the epoch (0 before any traffic); no earlier outcomes
        follow.
        """
        for subject, by_age in self._by_age.items():
            pending = self._open[subject]
            for births in pending:
                for age, predicates in by_age.items():
                    due = births.due(age, clock)
                    if due.any():
                        self._count(births, subject, age, predicates, due)
            while pending and pending[0].is_done():
                pending.popleft()
        self.counted_until = clock or self.counted_until

    def _count(
        self,
        births: _Births,
        subject: str,
        age: int,
        predicates: Mapping[str, Predicate],
        due: Bools,
    ) -> None:
        lives, since = births.at_age(age, subject), self._before - births.born - age
        before = (since >= 0) & (since < DAY)
        for key, predicate in predicates.items():
            answers = answers_at_horizon(lives, predicate)
            known = answers.is_valid().to_numpy(zero_copy_only=False) & ~before
            truths = pc.fill_null(answers, False).to_numpy(zero_copy_only=False)
            births.truths[key][due & known] = truths[due & known]
            for row in self._rows_of([key]):
                controller = self.control.controllers[row]
                controller.forget(*births.answers(row, due & ~known))
                own = due & known & births.asked_at(row[1])
                controller.observe(*births.answers(row, own), truths[own])


@dataclass
class _Births:
    """Births of one subject that were taken together.

    ``ids`` ascend; ``files`` are those of the files that were born with the names. ``scope`` has
    each birth's index in ``HISTORY_SCOPES``; ``scores`` are by scope, then by key; ``in_force`` are
    the thresholds then (``NEVER``: none). ``truths`` has by key the outcomes that were counted
    (1 or 0; nan: none).
    """

    ids: Ints
    files: Ints
    born: Ints
    scope: Ints
    scores: Mapping[HistoryScope, Mapping[str, Floats]]
    in_force: Mapping[Row, float]
    creates: pa.Table
    truths: dict[str, Floats]
    died: Ints = field(init=False)
    lost: Ints = field(init=False)
    used: dict[tuple[str, str], Floats] = field(init=False)
    counted: dict[int, Bools] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with unknown outcomes."""
        n = len(self.ids)
        self.died, self.lost = np.full((2, n), UNKNOWN)
        self.used = {
            (fact, use): np.full(n, np.nan) for fact in ("died", *_USED) for use in USES.values()
        }
        self.counted = {age: np.zeros(n, dtype=bool) for age in MARKS}

    def recent(self) -> RecentBirths:
        """Return these births for a refresh."""
        return RecentBirths(self.creates, self.born, self.truths)

    def became(self, fact: str, outcomes: pa.Table) -> None:
        """Record outcomes of one ``fact``; those of other births are ignored."""
        ids = _numbers(outcomes["id"])
        matching = np.isin(ids, self.ids)
        if not matching.any():
            return
        rows = np.searchsorted(self.ids, ids[matching])
        times = _numbers(outcomes["time"])[matching]
        if fact == "lost":
            self.lost[rows] = times
            return
        if fact == "died":
            self.died[rows] = times
        self._use(fact, rows, outcomes.filter(pa.array(matching)))

    def files_became(self, fact: str, outcomes: pa.Table) -> None:
        """Record the use of files at an age; those of other names are ignored."""
        ids = _numbers(outcomes["id"])
        order = np.argsort(ids)
        places = np.searchsorted(ids[order], self.files)
        places[places == len(ids)] = 0
        rows = np.flatnonzero(ids[order][places] == self.files) if len(ids) else _NONE
        self._use(fact, rows, outcomes.take(pa.array(order[places[rows]])))

    def _use(self, fact: str, rows: Ints, outcomes: pa.Table) -> None:
        for use in USES.values():
            column = outcomes[use]
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.int64())
            # a client may set any size or time; beyond 2^53 it need not be exact
            self.used[fact, use][rows] = column.cast(pa.float64(), safe=False).to_numpy()

    def asked_at(self, scope: HistoryScope) -> Bools:
        """Return which births can be asked about at a history scope: they have as much history."""
        return self.scope <= HISTORY_SCOPES.index(scope)

    def answers(self, row: Row, births: Bools) -> tuple[Floats, Floats]:
        """Return the scores of those of ``births`` that a row counts, and the threshold then."""
        key, scope = row
        scores = self.scores[scope][key][births & self.asked_at(scope)]
        return scores, np.full(len(scores), self.in_force[row])

    def due(self, age: int, clock: int) -> Bools:
        """Return which births have become older than ``age`` by ``clock``, each once."""
        due = (self.born + age < clock) & ~self.counted[age]
        self.counted[age] |= due
        return due

    def is_done(self) -> bool:
        """Return whether all outcomes are counted."""
        return all(counted.all() for counted in self.counted.values())

    def at_age(self, age: int, subject: str) -> pa.Table:
        """Return the lives as observed when each was just older than ``age``.

        Its use is that until then, as in ``predictor.control.outcomes``.
        """
        n = len(self.ids)
        until = np.minimum(self.born + age + 1, self.lost)
        dead = (self.died <= self.born + age) & (self.died <= self.lost)
        alive = "used" if age == MARKS[-1] else "young"
        used = {
            name: np.where(dead, self.used["died", use], self.used[alive, use])
            for name, use in _USE_OF[subject].items()
        }
        return pa.table(
            {
                "kind": pa.repeat("file", n),
                "birth_seen": pa.repeat(True, n),
                "born": pa.array(self.born).cast(TIME),
                "first_seen": pa.array(self.born).cast(TIME),
                "died": pa.array(self.died, mask=~dead).cast(TIME),
                "death_seen": pa.array(dead),
                "observed_until": pa.array(until).cast(TIME),
                **{name: pa.array(values, from_pandas=True) for name, values in used.items()},
            }
        )


def _files(births: pa.Table, files: pa.Table) -> Ints:
    """Return the ids of the files of births of names: born at the same time under that name."""
    columns = ("time", "dir_fh", "name")
    keys = zip(*(files[column].to_pylist() for column in columns), strict=True)
    ids = dict(zip(keys, files["id"].to_pylist(), strict=True))
    names = zip(*(births[column].to_pylist() for column in columns), strict=True)
    return np.array([ids.get(key, -1) for key in names], dtype=np.int64)


def _numbers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.cast(pa.int64()).to_numpy())
