"""How the live history is doing, for Prometheus: read when the metrics are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from birthmark.training.control.thresholds import MovedThresholds
from birthmark_native import SharedHistory

InForce = Callable[[], MovedThresholds | None]
"""Returns the thresholds in force that a follower moved, if there are any."""


def none() -> None:
    """Tell of no thresholds."""


WHYS = (
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
"""Why nothing may be told from a live history: the words of ``SharedHistory.status``."""

_MICROSECONDS = 1e6

_GAUGES = {
    "birthmark_live_age_seconds": ("age", 1.0, "Time since the live history was last updated"),
    "birthmark_live_lag_seconds": ("lag", 1.0, "Time by which its follower was behind then"),
    "birthmark_live_loss_ratio": ("loss", 1.0, "Share of the last minutes' operations it lacks"),
    "birthmark_live_clock_time_seconds": (
        "clock",
        _MICROSECONDS,
        "When the last operation that it knows of happened, Unix time",
    ),
}
"""By name: the member of the status, how many of its units are one of the metric's, a meaning."""

_COUNTERS = {
    "birthmark_live_updates": ("updates", "Updates of it since its follower began"),
    "birthmark_live_operations": ("operations", "Operations that its follower has followed"),
}
"""By name: the member of the status, a meaning."""

_KEPT = ("keys", "aliases")


class LiveStatus(Collector):
    """Tells Prometheus how a live ``history`` is doing; nothing while there is none.

    What a history that is absent or damaged does not tell is left out.
    """

    def __init__(self) -> None:
        self.history: SharedHistory | None = None
        self.in_force: InForce = none

    def collect(self) -> Iterator[Metric]:
        """Yield what there is to know of it."""
        if self.history is None:
            return
        if (moved := self.in_force()) is not None:
            yield from _controlled(moved)
        status = self.history.status()
        told = status["why"] is None
        yield GaugeMetricFamily("birthmark_live_told", "Whether creates are told from it", told)
        yield _why(status["why"])
        for name, (member, units, meaning) in _GAUGES.items():
            if member in status:
                yield GaugeMetricFamily(name, meaning, status[member] / units)
        for name, (member, meaning) in _COUNTERS.items():
            if member in status:
                yield CounterMetricFamily(name, meaning, status[member])
        if "keys" in status:
            yield from _kept(status)


def _why(why: str | None) -> Metric:
    """Return a sample for each reason that there may be."""
    found = GaugeMetricFamily(
        "birthmark_live_why", "Whether this is why nothing is told from it", labels=["why"]
    )
    for word in WHYS:
        found.add_metric([word], word == why)
    return found


def _controlled(moved: MovedThresholds) -> Iterator[Metric]:
    labels = ["predicate", "told"]
    outcomes = CounterMetricFamily(
        "birthmark_control_outcomes", "Files whose outcome moved a threshold", labels=labels
    )
    false = CounterMetricFamily(
        "birthmark_control_false_positives", "Of these, those wrongly answered yes", labels=labels
    )
    for row in moved.thresholds:
        outcomes.add_metric([row.predicate, row.told], row.outcomes)
        false.add_metric([row.predicate, row.told], row.false_positives)
    meaning = "Greatest share of files that may wrongly be answered yes"
    yield from (outcomes, false, GaugeMetricFamily("birthmark_control_bound", meaning, moved.bound))


def _kept(status: Mapping[str, Any]) -> Iterator[Metric]:
    kept = GaugeMetricFamily("birthmark_live_kept", "What it holds", labels=["what"])
    gave_way = CounterMetricFamily(
        "birthmark_live_gave_way", "What gave way for lack of room", labels=["what"]
    )
    for what in _KEPT:
        kept.add_metric([what], status[what])
        gave_way.add_metric([what], status[f"{what}_gave_way"])
    yield from (kept, gave_way)
