"""The service's metrics for Prometheus.

Every label has a fixed set of values, except those of hooks, whose number is limited
(``hook_reports``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.log import service_log
from birthmark.serving.messages.error_responses import NOSNIFF, failed
from birthmark.serving.metrics.hook_reports import Reports
from birthmark.serving.metrics.last_night import LastNight
from birthmark.serving.metrics.live_history import InForce, LiveStatus, no_thresholds
from birthmark.serving.metrics.multiprocess import METRICS
from birthmark.serving.models.loaded import LoadedModel, Tallies
from birthmark.training.nightly.state import NightState
from birthmark.training.statistics.standing import Standing
from birthmark_native import SharedHistory

OTHER = "other"
"""The route label of requests for unknown paths."""

# A kernel's helper waits milliseconds, and a list of thousands takes a second or more.
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """One application's metrics, in a separate collector registry.

    `stale_days` is the age, in days, after which the model is considered stale.
    """

    def __init__(self, stale_days: float) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "birthmark_request_seconds",
            "Time from a request's head to the end of its response",
            ["route", "status"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._by_route: dict[tuple[str, int], Histogram] = {}
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
        self._shed = Counter(
            "birthmark_shed",
            "Requests refused because the service was overloaded",
            registry=self.registry,
        )
        self._model = _Model(stale_days)
        self.registry.register(self._model)
        self._live = LiveStatus()
        self.registry.register(self._live)
        self._night = LastNight()
        self.registry.register(self._night)
        self.tallies = Tallies()
        # Several workers share their counts in files of prometheus_client.
        self._shared = os.environ.get(METRICS)
        self.reports = Reports(Path(self._shared) if self._shared else None)
        self.registry.register(self.reports)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        histogram = self._by_route.get((route, status))
        if histogram is None:
            histogram = self._requests.labels(route, str(status))
            self._by_route[route, status] = histogram
        histogram.observe(seconds)

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

    def bounds_known(self, standings: Mapping[str, Standing]) -> None:
        """Report the newest audits' finding on each predicate's bound."""
        self._model.standings = standings

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

    def shed(self, requests: int) -> None:
        """Count requests that were shed."""
        if requests:
            self._shed.inc(requests)

    def text(self) -> bytes:
        """Return all metrics, summed over all workers, in Prometheus's text format."""
        return generate_latest(self._summed())

    def families(self) -> Iterable[Metric]:
        """Return all metrics, summed over all workers."""
        return self._summed().collect()

    def _summed(self) -> CollectorRegistry:
        self.add_answers()
        if not self._shared:
            return self.registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry, self._shared)  # type: ignore[no-untyped-call]
        for collector in (self._model, self._live, self._night, self.reports):
            registry.register(collector)
        return registry


class _Model(Collector):
    """Collects metrics of the current model, the registry and the file of tokens."""

    def __init__(self, stale_days: float) -> None:
        self.stale_days = stale_days
        self.loaded: LoadedModel | None = None
        self.standings: Mapping[str, Standing] = {}
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
            "Whether a predicate abstains because its bound was broken",
            labels=["predicate"],
        )
        if (model := self.loaded) is not None:
            info.add_metric([], {"version": model.version, "kind": model.kind})
            created.add_metric([], datetime.fromisoformat(model.manifest["created"]).timestamp())
            for predicate in model.answerer.predicates:
                abstaining.add_metric([predicate], predicate in model.abstaining)
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
            "1 for the standing of a predicate's bound by the newest audits",
            labels=["predicate", "standing"],
        )
        model = self.loaded
        if model is not None and model.point == "bounded":
            for predicate in model.answerer.predicates:
                current = self.standings.get(predicate, Standing.UNSEEN)
                for standing in Standing:
                    standings.add_metric([predicate, standing], standing is current)
        return standings


class Measured:
    """An ASGI application that times the requests to `app`, by route (one of `routes`, or other).

    Each request has an id, which its response and the log repeat. With `access` each is logged. If
    `app` fails before it responds, the client gets an internal error.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, routes: frozenset[str], access: bool = False
    ) -> None:
        self.app = app
        self.metrics = metrics
        self.routes = routes
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on; count it if it is a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = size = 0
        begin = time.perf_counter()
        request_id = service_log.id_of(scope)
        id_field = (service_log.REQUEST_ID, request_id)
        service_log.request.set(request_id.decode())

        async def noting(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], id_field, NOSNIFF]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            if not status:
                await failed(scope, receive, noting, error)
            raise
        finally:
            route = scope["path"] if scope["path"] in self.routes else OTHER
            seconds = time.perf_counter() - begin
            self.metrics.request(route, status or 500, seconds)
            if self.access:
                service_log.note(scope, route, status or 500, seconds, size)
