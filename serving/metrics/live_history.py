"""Metrics of the live history, read when metrics are collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from birthmark.training.registry.thresholds import MovedThresholds
from birthmark_native import SharedHistory

InForce = Callable[[], MovedThresholds | None]
"""Returns the thresholds in force that a follower has adjusted, if any."""


def no_thresholds() -> None:
    """Return None: there are no adjusted thresholds."""


STALE_REASONS = (
    "absent",
    "damaged",
    "other_version",
    "busy",
    "starting",
    "stopped",
    "stale",
    "behind",
    "lossy",
)
"""Reasons not to use a live history: the words of ``SharedHistory.status``."""

_MICROSECONDS = 1e6

_GAUGES = {
    "birthmark_live_age_seconds": ("age", 1.0, "Time since the live history was last updated"),
    "birthmark_live_lag_seconds": ("lag", 1.0, "Lag of the follower behind the traffic then"),
    "birthmark_live_loss_ratio": ("loss", 1.0, "Share of the last minutes' operations lost"),
    "birthmark_live_clock_time_seconds": (
        "clock",
        _MICROSECONDS,
        "Time of the last operation in the live history, Unix time",
    ),
}
"""By name: the member of the status, its units per unit of the metric, and the help."""

_COUNTERS = {
    "birthmark_live_updates": ("updates", "Updates of the live history since its follower began"),
    "birthmark_live_operations": ("operations", "Operations that the follower has followed"),
}
"""By name: the member of the status, and the help."""

_CONTENTS = ("keys", "aliases")


class LiveStatus(Collector):
    """Collects metrics of a live ``history``; none while there is none.

    If the history is absent or damaged, the metrics that need it are left out.
    """

    def __init__(self) -> None:
        self.history: SharedHistory | None = None
        self.in_force: InForce = no_thresholds

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        if self.history is None:
            return
        if (moved := self.in_force()) is not None:
            yield from _controlled(moved)
        status = self.history.status()
        usable = status["why"] is None
        help = "Whether answers use the live history"
        yield GaugeMetricFamily("birthmark_live_told", help, usable)
        yield _why(status["why"])
        for name, (member, units, meaning) in _GAUGES.items():
            if member in status:
                yield GaugeMetricFamily(name, meaning, status[member] / units)
        for name, (member, meaning) in _COUNTERS.items():
            if member in status:
                yield CounterMetricFamily(name, meaning, status[member])
        if "keys" in status:
            yield from _contents(status)


def _why(why: str | None) -> Metric:
    """Return a sample for each reason."""
    reasons = GaugeMetricFamily(
        "birthmark_live_why", "1 for the reason not to use the live history", labels=["why"]
    )
    for word in STALE_REASONS:
        reasons.add_metric([word], word == why)
    return reasons


def _controlled(moved: MovedThresholds) -> Iterator[Metric]:
    labels = ["predicate", "told"]
    outcomes = CounterMetricFamily(
        "birthmark_control_outcomes", "Files whose outcome moved a threshold", labels=labels
    )
    false = CounterMetricFamily(
        "birthmark_control_false_positives", "False positives among these files", labels=labels
    )
    for row in moved.thresholds:
        outcomes.add_metric([row.predicate, row.told], row.outcomes)
        false.add_metric([row.predicate, row.told], row.false_positives)
    help = "Bound on the share of false positives"
    yield from (outcomes, false, GaugeMetricFamily("birthmark_control_bound", help, moved.bound))


def _contents(status: Mapping[str, Any]) -> Iterator[Metric]:
    contents = GaugeMetricFamily(
        "birthmark_live_kept", "Entries in the live history", labels=["what"]
    )
    evicted = CounterMetricFamily(
        "birthmark_live_gave_way", "Entries evicted from the live history", labels=["what"]
    )
    for what in _CONTENTS:
        contents.add_metric([what], status[what])
        evicted.add_metric([what], status[f"{what}_gave_way"])
    yield from (contents, evicted)
