"""Metrics of the last nightly run on the registry."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from birthmark.training.nightly.state import OUTCOMES, NightState

_TIMES = {
    "began": "Start of the newest nightly run, Unix time",
    "ended": "End of the newest finished nightly run, Unix time",
    "succeeded": "End of the last nightly run that did not fail, Unix time",
}
"""The help of a metric, by member of the state."""


class LastNight(Collector):
    """Collects metrics of the last ``night``; none while there is none."""

    def __init__(self) -> None:
        self.night: NightState | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        night = self.night
        if night is None:
            return
        for member, meaning in _TIMES.items():
            if (time := getattr(night, member)) is not None:
                name = f"birthmark_nightly_{member}_time_seconds"
                yield GaugeMetricFamily(name, meaning, time.timestamp())
        failures = "Nightly runs that failed or were killed since the last success"
        yield GaugeMetricFamily("birthmark_nightly_failures", failures, night.failures)
        if night.seconds is not None:
            yield from _ended(night, night.seconds)


def _ended(night: NightState, seconds: float) -> Iterator[Metric]:
    """Yield the metrics of a finished night."""
    duration = "Duration of the newest finished nightly run"
    yield GaugeMetricFamily("birthmark_nightly_seconds", duration, seconds)
    outcome = GaugeMetricFamily(
        "birthmark_nightly_outcome", "1 for the outcome of the nightly run", labels=["outcome"]
    )
    for word in OUTCOMES:
        outcome.add_metric([word], word == night.outcome)
    did = GaugeMetricFamily("birthmark_nightly_did", "Counts of the nightly run", labels=["what"])
    for what, count in night.did.items():
        did.add_metric([what], count)
    written = "Bytes of the datasets and the version that the nightly run made"
    yield from (outcome, did)
    yield GaugeMetricFamily("birthmark_nightly_written_bytes", written, night.written)
    for name, meaning, sizes in (
        ("held", "Bytes in use at the end of the nightly run", night.held),
        ("free", "Bytes free on the disk at the end of the nightly run", night.free),
    ):
        metric = GaugeMetricFamily(f"birthmark_nightly_{name}_bytes", meaning, labels=["where"])
        for where, size in sizes.items():
            metric.add_metric([where], size)
        yield metric
