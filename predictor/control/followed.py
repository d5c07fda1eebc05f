"""A control that follows the traffic: what is born is scored, and counted when its outcome is due.

Births and outcomes are those that a live history tells (``LiveHistory.take_births`` and
``take_outcomes``). Every birth is scored for all that may have been told of it, whoever asks about
it and whoever does not: so what is counted does not depend on which answers were asked for.

Counted are the predicates with a horizon (``predictor.control.outcomes``), at that age of each
life. The others, whose truth a follower learns only when the file dies, would be counted for those
that die young before all others: their thresholds stay as calibrated. So do those of kinds whose
images count no sums (``ModelSet.least_sum``), and cannot be told another threshold.

Where more is born than there is room for, some births are left out, drawn at random: what becomes
of them has no part in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.data.schema import TIME, filled
from birthmark.features.creates import CREATES
from birthmark.features.told import TOLD, Told, forgotten, told_of
from birthmark.predictor.answers.operating_points import NEVER
from birthmark.predictor.control.control import Control, Row
from birthmark.predictor.control.outcomes import MARKS, UNKNOWN, horizon
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates import Predicate
from birthmark.predictor.predicates.predicate import Subject

MOST_OPEN = 100_000
"""So many births wait for their outcomes, of files and names together: some 100 MB."""

_SUBJECTS: tuple[Subject, ...] = ("file", "name")
_USED = ("size", "writes")
_NONE: Ints = np.zeros(0, dtype=np.int64)
_USE_OF = {"file": ("max_size", "writes"), "name": ("file_max_size", "file_writes")}


class FollowedControl:
    """Moves the thresholds of ``models`` by what becomes of the files of one server.

    ``predicates`` are those of the models, by key. What ``control`` counted before, up to
    ``counted_until`` (microseconds since the epoch), is not counted again. At most ``most`` births
    wait for their outcomes; of those left out is told in ``left_out``.
    """

    def __init__(
        self,
        models: ModelSet[Any],
        predicates: Mapping[str, Predicate],
        control: Control,
        counted_until: int = 0,
        most: int = MOST_OPEN,
    ) -> None:
        self.control, self.counted_until, self.left_out = control, counted_until, 0
        self._most, self._chance = most, np.random.default_rng(0)
        self._models = models
        self._rows: dict[Row, None] = {}
        self._open: dict[str, deque[_Births]] = {subject: deque() for subject in _SUBJECTS}
        self._asked: dict[str, dict[int, dict[str, Predicate]]] = {
            subject: {age: {} for age in MARKS} for subject in _SUBJECTS
        }
        for key, predicate in predicates.items():
            age = horizon(predicate)
            if key not in models or age is None or predicate.subject not in self._asked:
                continue
            own = [told for told in TOLD if models.least_sum(key, None, told) is not None]
            if own:
                self._asked[predicate.subject][age][key] = predicate
                self._rows |= {(key, told): None for told in own}
        self._in_force = self.put_in_force()

    def put_in_force(self) -> dict[Row, float | None]:
        """Return the thresholds that move, as they are now: those of births to come."""
        now = self.control.thresholds()
        self._in_force = {row: now[row] for row in self._rows}
        return self._in_force

    def born(self, births: pa.Table) -> None:
        """Score births: ``subject``, ``id`` and ``features.CREATES``, as they were told of then."""
        own = {
            subject: births.filter(pc.equal(births["subject"].cast(pa.utf8()), subject))
            for subject in _SUBJECTS
        }
        for subject, some in own.items():
            keys = [key for asked in self._asked[subject].values() for key in asked]
            if len(some) and keys:
                files, kept = _files(some, own["file"]), self._kept(len(some))
                some = some.filter(pa.array(kept))
                self._open[subject].append(self._scored(some, keys, files[kept]))

    def _kept(self, count: int) -> Bools:
        """Return which of so many births there is room for: all, until half of it is taken."""
        taken = sum(len(births.ids) for own in self._open.values() for births in own)
        share = 2 * (1 - taken / self._most)
        kept = self._chance.random(count) < share
        kept[np.flatnonzero(kept)[max(0, self._most - taken) :]] = False
        self.left_out += count - int(kept.sum())
        return np.asarray(kept)

    def _scored(self, births: pa.Table, keys: list[str], files: Ints) -> _Births:
        creates = filled(births, CREATES)
        scores = {
            told: {
                key: np.asarray(each, dtype=np.float64)
                for key, each in self._models.scores(forgotten(creates, told), keys).items()
            }
            for told in TOLD
        }
        never = {row: NEVER if own is None else own for row, own in self._in_force.items()}
        return _Births(
            ids=_numbers(births["id"]),
            files=files,
            born=_numbers(births["time"]),
            told=told_of(creates).astype(np.int64),
            scores=scores,
            in_force=never,
        )

    def became(self, outcomes: pa.Table) -> None:
        """Take note of outcomes, with the columns of ``LiveHistory.take_outcomes``."""
        subjects, facts = (outcomes[name].cast(pa.utf8()) for name in ("subject", "fact"))
        for subject in _SUBJECTS:
            for fact in ("died", "young", "lost"):
                is_own = pc.and_(pc.equal(subjects, subject), pc.equal(facts, fact))
                own = outcomes.filter(is_own)
                for births in self._open[subject] if len(own) else ():
                    births.became(fact, own)
        young = pc.and_(pc.equal(subjects, "file"), pc.equal(facts, "young"))
        for births in self._open["name"]:
            births.files_became(outcomes.filter(young))

    def count(self, clock: int) -> None:
        """Count all that is known at a time, microseconds since the epoch: nothing older will come.

        Births are counted in the order of their births, predicate by predicate.
        """
        for subject, asked in self._asked.items():
            waiting = self._open[subject]
            for births in waiting:
                for age, predicates in asked.items():
                    due = births.due(age, clock)
                    if due.any():
                        self._count(births, subject, age, predicates, due)
            while waiting and waiting[0].is_done():
                waiting.popleft()
        self.counted_until = max(clock, self.counted_until)

    def _count(
        self,
        births: _Births,
        subject: str,
        age: int,
        predicates: Mapping[str, Predicate],
        due: Bools,
    ) -> None:
        due = due & (births.born + age > self.counted_until)
        lives = births.at_age(age, subject)
        for key, predicate in predicates.items():
            answers = predicate.evaluate(lives)
            known = due & answers.is_valid().to_numpy(zero_copy_only=False)
            truths = pc.fill_null(answers, False).to_numpy(zero_copy_only=False)
            for place, told in enumerate(TOLD):
                if (key, told) not in self._rows:
                    continue
                own = known & (births.told <= place)
                in_force = np.full(int(own.sum()), births.in_force[key, told])
                scores = births.scores[told][key][own]
                self.control.observe(key, told, scores, in_force, truths[own])


@dataclass
class _Births:
    """Births of one subject that were told together.

    ``ids`` ascend; ``files`` are those of the files that were born with the names. ``told`` is the
    place in ``TOLD`` of what was told of each; ``scores`` are by what may be told, then by key;
    ``in_force`` are the thresholds then (``NEVER``: none).
    """

    ids: Ints
    files: Ints
    born: Ints
    told: Ints
    scores: Mapping[Told, Mapping[str, Floats]]
    in_force: Mapping[Row, float]
    died: Ints = field(init=False)
    lost: Ints = field(init=False)
    used: dict[tuple[str, str], Floats] = field(init=False)
    counted: dict[int, Bools] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing known of them."""
        n = len(self.ids)
        self.died, self.lost = np.full((2, n), UNKNOWN)
        self.used = {
            (fact, what): np.full(n, np.nan) for fact in ("died", "young") for what in _USED
        }
        self.counted = {age: np.zeros(n, dtype=bool) for age in MARKS}

    def became(self, fact: str, outcomes: pa.Table) -> None:
        """Take note of outcomes that are one ``fact``, of these births or of others."""
        ids = _numbers(outcomes["id"])
        mine = np.isin(ids, self.ids)
        if not mine.any():
            return
        rows = np.searchsorted(self.ids, ids[mine])
        times = _numbers(outcomes["time"])[mine]
        if fact == "lost":
            self.lost[rows] = times
            return
        if fact == "died":
            self.died[rows] = times
        self._use(fact, rows, outcomes.filter(pa.array(mine)))

    def files_became(self, young: pa.Table) -> None:
        """Take note of how young files were used: those of names, or others."""
        ids = _numbers(young["id"])
        order = np.argsort(ids)
        places = np.searchsorted(ids[order], self.files)
        places[places == len(ids)] = 0
        rows = np.flatnonzero(ids[order][places] == self.files) if len(ids) else _NONE
        self._use("young", rows, young.take(pa.array(order[places[rows]])))

    def _use(self, fact: str, rows: Ints, outcomes: pa.Table) -> None:
        for what in _USED:
            self.used[fact, what][rows] = pc.cast(outcomes[what], pa.float64()).to_numpy()

    def due(self, age: int, clock: int) -> Bools:
        """Return which are older than ``age`` at a time, and were not yet; remember it."""
        due = (self.born + age < clock) & ~self.counted[age]
        self.counted[age] |= due
        return due

    def is_done(self) -> bool:
        """Tell whether there is nothing more to count."""
        return all(each.all() for each in self.counted.values())

    def at_age(self, age: int, subject: str) -> pa.Table:
        """Return the lives as they were seen when each was just older than ``age``.

        As ``predictor.control.outcomes`` has it: what was not dead by then is as large, and as
        often written, as it was young.
        """
        n = len(self.ids)
        until = np.minimum(self.born + age + 1, self.lost)
        dead = (self.died <= self.born + age) & (self.died <= self.lost)
        used = {
            what: np.where(dead, *(self.used[f, what] for f in ("died", "young"))) for what in _USED
        }
        own = {
            name: pa.array(used[what], from_pandas=True).cast(pa.uint64())
            for name, what in zip(_USE_OF[subject], _USED, strict=True)
        }
        return pa.table(
            {
                "kind": pa.repeat("file", n),
                "birth_seen": pa.repeat(True, n),
                "born": pa.array(self.born).cast(TIME),
                "died": pa.array(self.died, mask=~dead).cast(TIME),
                "death_seen": pa.array(dead),
                "observed_until": pa.array(until).cast(TIME),
                **own,
            }
        )


def _files(births: pa.Table, files: pa.Table) -> Ints:
    """Return the ids of the files of births of names: born at the same time under that name."""
    here = ("time", "dir_fh", "name")
    known = zip(*(files[column].to_pylist() for column in here), strict=True)
    ids = dict(zip(known, files["id"].to_pylist(), strict=True))
    asked = zip(*(births[column].to_pylist() for column in here), strict=True)
    return np.array([ids.get(each, -1) for each in asked], dtype=np.int64)


def _numbers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.cast(pa.int64()).to_numpy())
