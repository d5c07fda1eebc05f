"""Refreshes of a model: its forests, refitted to the latest births where that was better before.

A refresh is judged before it is made, on what came after: each step fits a *candidate* to the
latest births, and the births after it are scored by the candidate and by the base model. A
predicate is refreshed if the candidates before would have made its scores better (Brier score), by
more than ``LEAST_EVIDENCE`` standard errors; otherwise it stays, or goes back, to the base model.
So a refresh always rests on births that it did not learn from, and a bad day is left behind as soon
as it shows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Floats, Ints
from birthmark.data.common.durations import SECOND
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope, mask_history
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.predicates.predicate import is_about_names

RECENT_BIRTHS = 20_000
"""Number of the latest births, of files and of names each, that a refresh learns from."""

LEAST_EVIDENCE = 1.0
"""Least improvement by the candidates before, in standard errors."""

LEAST_BIRTHS = 200
"""Fewest births on which a candidate is judged."""

JUDGED: tuple[HistoryScope, ...] = (HISTORY_SCOPES[0], HISTORY_SCOPES[-1])
"""The history scopes at which scores are judged: with all history, and without any."""

_BLOCK = SECOND
"""Births within this time count as dependent, microseconds."""


@dataclass
class RecentBirths:
    """Births that became known together, in the order of arrival.

    ``answers`` has by key the known outcomes (1, 0, or nan), and gets more as they become known.
    ``scores`` has by key those of the base model and of the candidate, a row for each scope of
    ``JUDGED``; none if there was no candidate.
    """

    creates: pa.Table
    born: Ints
    answers: Mapping[str, Floats]
    scores: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def about_names(self) -> bool:
        """Whether they are births of names, not of files."""
        return is_about_names(next(iter(self.answers)))

    def gains(self, key: str) -> Floats:
        """Return by how much the candidate's squared errors are below the base model's.

        They are sums over ``JUDGED``; nan where the outcome is unknown, or no candidate scored.
        """
        if key not in self.scores:
            return np.full(len(self.born), np.nan)
        base, candidate = self.scores[key]
        truths = self.answers[key]
        return np.asarray(((base - truths) ** 2 - (candidate - truths) ** 2).sum(axis=0))


class Refresher:
    """Refreshes ``models``, the forests of a version, by the births that are added."""

    def __init__(self, models: ForestModels, recent: int = RECENT_BIRTHS) -> None:
        self._base, self._most = models, recent
        self._candidate: ForestModels | None = None
        self._births: dict[bool, deque[RecentBirths]] = {False: deque(), True: deque()}
        self._unscored: list[RecentBirths] = []

    def add(self, births: RecentBirths) -> None:
        """Add births, and drop the oldest."""
        own = self._births[births.about_names]
        own.append(births)
        self._unscored.append(births)
        while len(own) > 1 and sum(len(each.born) for each in own) - len(own[0].born) > self._most:
            own.popleft()

    def step(self) -> tuple[ForestModels, list[str]]:
        """Return the refreshed models, and the keys that are refreshed, if any.

        The candidate that it makes is judged by the next steps.
        """
        self._score()
        keys = [key for key in self._base if self.evidence(key) >= LEAST_EVIDENCE]
        candidate = self._base
        for births in self._births.values():
            if births:
                creates = pa.concat_tables([own.creates for own in births]).unify_dictionaries()
                every = dict.fromkeys(key for own in births for key in own.answers)
                answers = {
                    key: np.concatenate([own.answers[key] for own in births]) for key in every
                }
                candidate = candidate.refit(creates, answers)
        self._candidate = candidate
        return self._base.with_keys(candidate, keys), keys

    def evidence(self, key: str) -> float:
        """Return the improvement of a key's scores by the candidates, in standard errors."""
        births = self._births[is_about_names(key)]
        own = [each for each in births if key in each.scores]
        if not own:
            return 0.0
        gains = np.concatenate([each.gains(key) for each in own])
        known = ~np.isnan(gains)
        if np.count_nonzero(known) < LEAST_BIRTHS:
            return 0.0
        seconds = np.concatenate([each.born for each in own])[known] // _BLOCK
        _, block = np.unique(seconds, return_inverse=True)
        sums = np.bincount(block, gains[known])
        spread = float(np.sqrt((sums**2).sum()))
        return float(sums.sum()) / spread if spread else 0.0

    def _score(self) -> None:
        """Score the births since the last step by its candidate, which learned before them."""
        candidate, unscored, self._unscored = self._candidate, self._unscored, []
        for about_names in (False, True):
            own = [each for each in unscored if each.about_names is about_names]
            if candidate is None or not own:
                continue
            creates = pa.concat_tables([each.creates for each in own]).unify_dictionaries()
            keys = list(own[0].answers)
            scores = [_at_scopes(models, creates, keys) for models in (self._base, candidate)]
            ends = np.cumsum([len(each.born) for each in own])[:-1]
            for key in keys:
                parts = (np.split(by_key[key], ends, axis=1) for by_key in scores)
                for each, base, refitted in zip(own, *parts, strict=True):
                    each.scores[key] = base, refitted


def _at_scopes(models: ForestModels, creates: pa.Table, keys: Sequence[str]) -> dict[str, Floats]:
    """Return by key the scores of creates, a row for each scope of ``JUDGED``."""
    by_scope = [models.scores(mask_history(creates, scope), keys) for scope in JUDGED]
    return {key: np.stack([scores[key] for scores in by_scope]) for key in keys}
