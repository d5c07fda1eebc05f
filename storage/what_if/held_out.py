"""Accuracy of a fitted server in the half of a dataset that it was not fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.storage.what_if.calls import Survey
from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.simulate import Run, run

METRICS = ("mean", "p50", "p95", "p99")
ALL = "all"
"""The kind that includes all calls."""

LEAST_CALLS = 100
"""Fewest calls for a meaningful error."""


@dataclass(frozen=True)
class Row:
    """Calls of a kind: their latencies in μs, captured and predicted, by `METRICS`.

    `away` is predicted over captured, less 1: 0.1 is a tenth too slow.
    """

    kind: str
    calls: int
    captured: Mapping[str, float]
    predicted: Mapping[str, float]

    @property
    def away(self) -> dict[str, float]:
        """Return the error of each figure."""
        return {name: self.predicted[name] / max(self.captured[name], 1e-3) - 1 for name in METRICS}


@dataclass(frozen=True)
class HeldOut:
    """The prediction of the second half, by kind of call."""

    rows: Sequence[Row]

    def error(self, kind: str, metric: str) -> float:
        """Return a figure's error, as a factor's logarithm; infinite if it is not known.

        For the mean of all calls it is the mean error of their kinds, weighted by captured time:
        kinds predicted too slow do not cancel those predicted too fast.
        """
        found = next((row for row in self.rows if row.kind == kind), None)
        if found is None or found.calls < LEAST_CALLS:
            return float("inf")
        own = abs(float(np.log1p(found.away[metric])))
        return max(own, self._of_kinds()) if (kind, metric) == (ALL, "mean") else own

    def _of_kinds(self) -> float:
        """Return the mean error of the kinds' means, weighted by captured time."""
        kinds = [row for row in self.rows if row.kind in CLASSES]
        time = sum(row.calls * row.captured["mean"] for row in kinds)
        off = sum(row.calls * abs(row.predicted["mean"] - row.captured["mean"]) for row in kinds)
        return float(np.log1p(off / max(time, 1e-3)))


def held_out(of: Survey, server: Server, seeds: int, calls: Iterable[pa.RecordBatch]) -> HeldOut:
    """Let a server serve a dataset's calls; compare its latencies in the second half."""
    runs = [Run(server, seed=seed, start=of.half) for seed in range(1, seeds + 1)]
    return compared(run(runs, calls))


def compared(outcomes: Sequence[Mapping[str, Any]]) -> HeldOut:
    """Return the means over some runs next to the captured values."""
    kinds = [outcome["kinds"] for outcome in outcomes]
    rows = []
    for name in sorted(kinds[0], key=lambda name: (name != ALL, name)):
        own = [kind[name] for kind in kinds if name in kind]
        captured = own[0]["captured"]
        predicted = {
            metric: float(np.mean([each["simulated"][metric] for each in own]))
            for metric in METRICS
        }
        latencies = {metric: captured[metric] for metric in METRICS}
        if captured["calls"]:
            rows.append(Row(name, captured["calls"], latencies, predicted))
    return HeldOut(rows)
