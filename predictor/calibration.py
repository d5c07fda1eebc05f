"""Which lives are kept from training, to choose thresholds on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from predictor.model_set import ModelSet
from predictor.thresholds import Bools, Ints, Limit, OperatingPoints, Slice, choose

BLOCKS = 100
"""The births of a period are divided, in order of time, into this many blocks of equal size."""


@dataclass(frozen=True)
class Holdout:
    """The births that are kept from training: whole blocks of time, where ``held``.

    Blocks, for births of the same minutes are alike: of two such, one learned from, the other would
    tell little of tomorrow.
    """

    block: Ints
    held: Bools

    @classmethod
    def of(cls, births: pa.Table, share: float) -> Holdout:
        """Keep about ``share`` of ``births`` (a half at most; 0: none), block by block."""
        if not 0 <= share <= 0.5:
            raise ValueError(f"the share of lives to calibrate on is 0 to 0.5, not {share!r}")
        n = len(births)
        block = np.empty(n, dtype=np.int64)
        order = np.argsort(births["born"].cast(pa.int64()).to_numpy(), kind="stable")
        block[order] = np.arange(n) * BLOCKS // max(n, 1)
        every = round(1 / share) if share else BLOCKS + 1
        return cls(block, block % every == every - 1)

    def train(self, answers: pa.BooleanArray) -> pa.BooleanArray:
        """Return ``answers`` of the births that are learned from."""
        return answers.filter(pa.array(~self.held))

    def calibrate(
        self,
        models: ModelSet[Any],
        creates: pa.Table,
        labels: Mapping[str, pa.BooleanArray],
        limit: Limit,
    ) -> None:
        """Choose the operating points of ``models`` by their scores of the births kept.

        ``creates`` and ``labels`` are of all births; those whose label is unknown do not count.
        """
        if not self.held.any():
            return
        held = pa.array(self.held)
        scores = models.scores(creates.filter(held), labels)
        decision = models.decision if models.is_baseline else None
        for key, score in scores.items():
            truth = labels[key].filter(held)
            known = truth.is_valid().to_numpy(zero_copy_only=False)
            answers = truth.drop_null().to_numpy(zero_copy_only=False)
            part = Slice(score[known], answers, self.block[self.held][known])
            models.points[key] = choose(part, limit, decision)


def points_from_json(saved: Mapping[str, dict[str, float]]) -> dict[str, OperatingPoints]:
    """Return operating points by key; raise ``ValueError`` or ``TypeError`` if they are none."""
    return {key: OperatingPoints.from_json(dict(points)) for key, points in saved.items()}
