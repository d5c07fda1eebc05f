"""What came of the last nightly run on the registry, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from birthmark.training.nightly.state import OUTCOMES, NightState

_TIMES = {
    "began": "When the newest night began, Unix time",
    "ended": "When the newest night that ended did, Unix time",
    "succeeded": "When the last night ended that did not fail, Unix time",
}
"""By member of the state: a meaning."""


class LastNight(Collector):
    """Tells Prometheus what came of the last ``night``; nothing while none is known."""

    def __init__(self) -> None:
        self.night: NightState | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield what there is to know of it."""
        night = self.night
        if night is None:
            return
        for member, meaning in _TIMES.items():
            if (time := getattr(night, member)) is not None:
                name = f"birthmark_nightly_{member}_time_seconds"
                yield GaugeMetricFamily(name, meaning, time.timestamp())
        failures = "Nights that failed or were killed since the last that did not"
        yield GaugeMetricFamily("birthmark_nightly_failures", failures, night.failures)
        if night.seconds is not None:
            yield from _ended(night, night.seconds)


def _ended(night: NightState, seconds: float) -> Iterator[Metric]:
    """Yield what is known of the newest night that ended."""
    yield GaugeMetricFamily("birthmark_nightly_seconds", "How long it took", seconds)
    outcome = GaugeMetricFamily(
        "birthmark_nightly_outcome", "Whether this is how it ended", labels=["outcome"]
    )
    for word in OUTCOMES:
        outcome.add_metric([word], word == night.outcome)
    did = GaugeMetricFamily("birthmark_nightly_did", "What it did, counted", labels=["what"])
    for what, count in night.did.items():
        did.add_metric([what], count)
    written = "Bytes of the datasets and the version that it made"
    yield from (outcome, did)
    yield GaugeMetricFamily("birthmark_nightly_written_bytes", written, night.written)
    for name, meaning, told in (
        ("held", "Bytes that there were at its end", night.held),
        ("free", "Bytes that were free there at its end", night.free),
    ):
        found = GaugeMetricFamily(f"birthmark_nightly_{name}_bytes", meaning, labels=["where"])
        for where, size in told.items():
            found.add_metric([where], size)
        yield found
