"""Streams of births for ``benchmarks.control``: asked, answered, and known later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.days import Day
from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.data.common.durations import SECOND
from birthmark.features.history import shape
from birthmark.features.history_scope import HistoryScope, mask_history
from birthmark.predictor import TrainedModel, births
from birthmark.predictor.answers.operating_points import NEVER, says_yes
from birthmark.predictor.control import UNKNOWN, Controller, Row, outcomes
from birthmark.training.evaluate.cases import Labelled

STEP = SECOND // 10
"""Interval of publishing thresholds, microseconds of the trace's time."""

ASKED: tuple[HistoryScope, ...] = ("directory", "nothing")
"""History scopes: all, and none (name, mode, user and group alone)."""

_CREATED_AS = ("name", "dir_fh", "dir_name", "mode")


@dataclass(frozen=True)
class Stream:
    """The births of a day for one predicate and history scope, by time.

    ``truths`` are what became of them in the end; ``counted`` what is counted for it, and
    ``known_at`` when. ``static`` is the calibrated threshold.
    """

    row: Row
    born: Ints
    scores: Floats
    truths: Bools
    known_at: Ints
    counted: Bools
    static: float | None

    def best(self, bound: float) -> float | None:
        """Return the best static threshold in hindsight.

        It is the lowest that keeps the bound with no more false yes than true ones, as calibration
        has it (``predictor.fit.thresholds.within_limit``).
        """
        order = np.argsort(-self.scores, kind="stable")
        scores, true = self.scores[order], np.cumsum(self.truths[order])
        false = np.arange(1, len(order) + 1) - true
        last = np.append(scores[1:] != scores[:-1], True)
        remaining = np.flatnonzero(last & (false <= bound * len(order)) & (true >= false))
        return float(scores[remaining[-1]]) if len(remaining) else None

    def answers(self, threshold: float | None) -> Bools:
        """Return the answers at a threshold."""
        return says_yes(self.scores, threshold)

    def controlled(self, controller: Controller) -> Bools:
        """Return the answers as served while a controller learns the outcomes as they come.

        Its threshold is published every ``STEP``.
        """
        arrival = np.argsort(self.known_at, kind="stable")
        arrival = arrival[self.known_at[arrival] != UNKNOWN]
        steps, first = np.unique((self.born - self.born[0]) // STEP, return_index=True)
        known = np.searchsorted(self.known_at[arrival], self.born[0] + steps * STEP)
        in_force, counted = np.full(len(self.born), NEVER), 0
        for begin, end, until in zip(first, [*first[1:], len(self.born)], known, strict=True):
            own, counted = arrival[counted:until], until
            controller.observe(self.scores[own], in_force[own], self.counted[own])
            if (threshold := controller.threshold) is not None:
                in_force[begin:end] = threshold
            controller.expect(self.scores[begin:end], in_force[begin:end])
        return self.scores >= in_force


def streams(model: TrainedModel, kind: str, test: Mapping[str, Labelled]) -> list[Stream]:
    """Return the streams of a test with and without history, scored by a kind of models."""
    return [
        stream
        for scope in ASKED
        for own in test.values()
        for stream in _streams(model, kind, own, scope)
    ]


def _streams(model: TrainedModel, kind: str, asked: Labelled, scope: HistoryScope) -> list[Stream]:
    scores = model.scores(mask_history(asked.creates, scope), kind, asked.predicates)
    born = asked.lives["born"].cast(pa.int64()).to_numpy()
    found = []
    for key, outcome in outcomes(asked.lives, asked.predicates).items():
        known, truths, _ = asked.answers[key]
        order = np.argsort(born[known], kind="stable")
        columns = (born, np.asarray(scores[key], dtype=np.float64), outcome.known_at)
        time, score, at = (column[known][order] for column in columns)
        static = model.of_kind(kind).point(key, scope).bounded
        counted = outcome.truths[known][order]
        found.append(Stream((key, scope), time, score, truths[order], at, counted, static))
    return found


def changed_at_noon(day: Day, seed: int) -> tuple[Day, int]:
    """Return a day at whose noon every user's programs change, and that noon (microseconds).

    Noon is when half of the files were born. From then on each user's files are created with names,
    directories and modes like those of another of the user's programs (names of another shape), and
    become what they became: what was learned of a name is now true of another.
    """
    noon = int(np.median(births(day.files)["born"].cast(pa.int64()).to_numpy()))
    rng = np.random.default_rng(seed)
    files, names = (_changed(lives, noon, rng) for lives in (day.files, day.names))
    return Day(f"{day.name}, programs change at noon", files, names), noon


def _changed(lives: pa.Table, noon: int, rng: np.random.Generator) -> pa.Table:
    own = births(lives)
    later = own.filter(pa.array(own["born"].cast(pa.int64()).to_numpy() >= noon))
    source = np.arange(len(later))
    uid = later["uid"].fill_null(0).to_numpy()
    program = shape(later["name"]).dictionary_encode().indices.to_numpy()
    for user in np.unique(uid):
        rows = np.flatnonzero(uid == user)
        programs = rng.permutation(np.unique(program[rows]))
        for old, new in zip(programs, np.roll(programs, 1), strict=True):
            mine, other = (rows[program[rows] == each] for each in (old, new))
            source[mine] = rng.choice(other, len(mine))
    for name in (name for name in _CREATED_AS if name in later.column_names):
        place = later.schema.get_field_index(name)
        later = later.set_column(place, later.schema.field(place), later[name].take(source))
    before = own.filter(pa.array(own["born"].cast(pa.int64()).to_numpy() < noon))
    return pa.concat_tables([before, later]).unify_dictionaries()
