"""The service's metrics for Prometheus.

Every label has a fixed set of values, except those of hooks, whose number is limited
(``hook_reports``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.metrics.buckets import SECONDS
from birthmark.serving.metrics.hook_reports import Reports
from birthmark.serving.metrics.last_night import LastNight
from birthmark.serving.metrics.live_history import InForce, LiveStatus, no_thresholds
from birthmark.serving.models.images import Tallies
from birthmark.serving.models.loaded import LoadedModel
from birthmark.training.nightly.state import NightState
from birthmark.training.registry.thresholds import standings_of
from birthmark.training.statistics.standing import Standing
from birthmark_native import HttpService, SharedHistory


class Metrics:
    """One application's metrics, in a separate collector registry.

    `stale_days` is the age, in days, after which the model is considered stale. Answers are counted
    in `tallies`.
    """

    def __init__(self, stale_days: float, tallies: Tallies | None = None) -> None:
        self.registry = CollectorRegistry()
        self._requests = _Requests()
        self.registry.register(self._requests)
        self._predictions = Counter(
            "birthmark_predictions",
            "Answers given",
            ["predicate", "answer"],
            registry=self.registry,
        )
        self._hints = Counter(
            "birthmark_hints",
            "Hints given",
            ["hint", "answer"],
            registry=self.registry,
        )
        self._scopes = Counter(
            "birthmark_told",
            "Creates answered, by history scope",
            ["told"],
            registry=self.registry,
        )
        for scope in HISTORY_SCOPES:
            self._scopes.labels(scope)
        self._loads = Counter(
            "birthmark_model_loads",
            "Attempts to load published models, by outcome",
            ["outcome"],
            registry=self.registry,
        )
        for outcome in ("loaded", "failed"):
            self._loads.labels(outcome)
        self._model = _Model(stale_days)
        self.registry.register(self._model)
        self._live = LiveStatus()
        self.registry.register(self._live)
        self._night = LastNight()
        self.registry.register(self._night)
        self.tallies = tallies or Tallies()
        self.reports = Reports()
        self.registry.register(self.reports)

    def watch_requests(self, front: HttpService) -> None:
        """Collect metrics of the requests that `front` answers."""
        self._requests.front = front

    def add_answers(self) -> None:
        """Add the answers given since the last call, from the tallies of the answerers."""
        for counter, tally in (
            (self._predictions, self.tallies.predictions),
            (self._hints, self.tallies.hints),
        ):
            for key, counts in tally.take().items():
                for answer, count in zip(("no", "yes"), counts, strict=True):
                    counter.labels(key, answer).inc(count)
        for scope, (_, count) in self.tallies.scopes_used.take().items():
            self._scopes.labels(scope).inc(count)

    def watch_live_history(
        self, live: SharedHistory | None, in_force: InForce = no_thresholds
    ) -> None:
        """Collect metrics of the live history and of its thresholds from now on, if any."""
        self._live.history, self._live.in_force = live, in_force

    def model_loaded(self, model: LoadedModel) -> None:
        """Count a load, and report its model as the current one."""
        self._loads.labels("loaded").inc()
        self._model.loaded = model

    def night_known(self, night: NightState | None) -> None:
        """Report the state of the last nightly run."""
        self._night.night = night

    def model_failed(self) -> None:
        """Count a published model that could not be loaded."""
        self._loads.labels("failed").inc()

    def registry_read(self, success: bool) -> None:
        """Report whether the last attempt to read the registry succeeded."""
        self._model.reached = success

    def tokens_read(self, success: bool) -> None:
        """Report whether the last attempt to read the file of tokens succeeded."""
        self._model.tokens = success

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        self.add_answers()
        return generate_latest(self.registry)

    def families(self) -> Iterable[Metric]:
        """Return all metrics."""
        self.add_answers()
        return self.registry.collect()


class _Requests(Collector):
    """Collects metrics of the requests that were answered and refused."""

    def __init__(self) -> None:
        self.front: HttpService | None = None

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        answered, shed = ([], 0) if self.front is None else self.front.requests()
        yield CounterMetricFamily(
            "birthmark_shed", "Requests refused because the service was overloaded", shed
        )
        times = HistogramMetricFamily(
            "birthmark_request_seconds",
            "Time from a request's head to its response",
            labels=["route", "status"],
        )
        bounds = [*map(str, map(float, SECONDS)), "+Inf"]
        for route, status, counts, seconds in sorted(answered):
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            times.add_metric([route, str(status)], buckets, seconds)
        yield times


class _Model(Collector):
    """Collects metrics of the current model, the registry and the file of tokens."""

    def __init__(self, stale_days: float) -> None:
        self.stale_days = stale_days
        self.loaded: LoadedModel | None = None
        self.reached = True
        self.tokens = True

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        info = InfoMetricFamily("birthmark_model", "The model that answers")
        created = GaugeMetricFamily(
            "birthmark_model_created_time_seconds", "When the model was trained, Unix time"
        )
        abstaining = GaugeMetricFamily(
            "birthmark_abstaining",
            "Whether a predicate is never a yes at some history scope, by outcomes",
            labels=["predicate"],
        )
        if (model := self.loaded) is not None:
            info.add_metric([], {"version": model.version, "kind": model.kind})
            created.add_metric([], datetime.fromisoformat(model.manifest["created"]).timestamp())
            rows = model.moved_thresholds.values()
            never = {row.predicate for row in rows if row.abstains}
            for predicate in model.answerer.predicates:
                abstaining.add_metric([predicate], predicate in never)
        reached = GaugeMetricFamily(
            "birthmark_registry_read",
            "Whether the last attempt to read the registry succeeded",
            self.reached,
        )
        tokens = GaugeMetricFamily(
            "birthmark_tokens_read",
            "Whether the last attempt to read the file of tokens, if any, succeeded",
            self.tokens,
        )
        stale = GaugeMetricFamily(
            "birthmark_model_stale_seconds",
            "Age after which a model is considered stale (--stale-days)",
            86_400 * self.stale_days,
        )
        yield from (info, created, stale, abstaining, self._bounds(), reached, tokens)

    def _bounds(self) -> Metric:
        """Return a sample for each predicate with a bound, and each standing."""
        standings = GaugeMetricFamily(
            "birthmark_bound_standing",
            "1 for the standing of a predicate's bound by the outcomes since publication",
            labels=["predicate", "standing"],
        )
        model = self.loaded
        if model is not None and model.point == "bounded":
            current_by_key = standings_of(model.moved_thresholds.values(), model.bound)
            for predicate in model.answerer.predicates:
                current = current_by_key.get(predicate, Standing.UNSEEN)
                for standing in Standing:
                    standings.add_metric([predicate, standing], standing is current)
        return standings
