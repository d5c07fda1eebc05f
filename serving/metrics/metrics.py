"""What the service tells Prometheus. Every label's values are a closed set.

But for those of the hooks that helpers report of, which are bounded (``hook_reports``).
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

from birthmark.features.told import TOLD
from birthmark.serving.log import service_log
from birthmark.serving.messages.error_responses import NOSNIFF, failed
from birthmark.serving.metrics.hook_reports import Reports
from birthmark.serving.metrics.last_night import LastNight
from birthmark.serving.metrics.live_history import InForce, LiveStatus, none
from birthmark.serving.metrics.multiprocess import METRICS
from birthmark.serving.models.loaded import LoadedModel, Tallies
from birthmark.training.nightly.state import NightState
from birthmark.training.statistics.standing import Standing
from birthmark_native import SharedHistory

OTHER = "other"
"""The route of a request for a path that the service does not have."""

# A kernel's helper waits milliseconds, and a list of thousands takes a second or more.
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """One application's metrics, in a collector registry of their own.

    `stale_days` is the age from which the model is warned of, in days.
    """

    def __init__(self, stale_days: float) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "birthmark_request_seconds",
            "Requests, and the time from a request's head to the end of its response",
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
        self._told = Counter(
            "birthmark_told",
            "Creates answered, by what they were told of earlier files",
            ["told"],
            registry=self.registry,
        )
        for told in TOLD:
            self._told.labels(told)
        self._loads = Counter(
            "birthmark_model_loads",
            "Published models that were loaded, or could not be",
            ["outcome"],
            registry=self.registry,
        )
        for outcome in ("loaded", "failed"):
            self._loads.labels(outcome)
        self._shed = Counter(
            "birthmark_shed",
            "Requests that were refused because others were enough",
            registry=self.registry,
        )
        self._model = _Model(stale_days)
        self.registry.register(self._model)
        self._live = LiveStatus()
        self.registry.register(self._live)
        self._night = LastNight()
        self.registry.register(self._night)
        self.tallies = Tallies()
        # Where workers add up what they count, prometheus_client does so in files.
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
        """Add the answers given since this was done last: they are counted where they are given."""
        for counter, tally in (
            (self._predictions, self.tallies.predictions),
            (self._hints, self.tallies.hints),
        ):
            for key, counts in tally.take().items():
                for answer, count in zip(("no", "yes"), counts, strict=True):
                    counter.labels(key, answer).inc(count)
        for told, (_, count) in self.tallies.told.take().items():
            self._told.labels(told).inc(count)

    def tell_of(self, live: SharedHistory | None, in_force: InForce = none) -> None:
        """Tell from now on how the live history is doing, and the control, if there is one."""
        self._live.history, self._live.in_force = live, in_force

    def model_loaded(self, model: LoadedModel) -> None:
        """Count a load, and tell which model answers now."""
        self._loads.labels("loaded").inc()
        self._model.loaded = model

    def bounds_known(self, standings: Mapping[str, Standing]) -> None:
        """Tell what the newest audits know of each predicate's bound."""
        self._model.standings = standings

    def night_known(self, night: NightState | None) -> None:
        """Tell what came of the last nightly run."""
        self._night.night = night

    def model_failed(self) -> None:
        """Count a published model that could not be loaded."""
        self._loads.labels("failed").inc()

    def registry_read(self, well: bool) -> None:
        """Tell whether the registry could be read when it was last looked at."""
        self._model.reached = well

    def tokens_read(self, well: bool) -> None:
        """Tell whether the file of tokens could be read when it was last looked at."""
        self._model.tokens = well

    def shed(self, requests: int) -> None:
        """Count requests that were refused because there were too many."""
        if requests:
            self._shed.inc(requests)

    def text(self) -> bytes:
        """Return all of it, summed over all workers, in Prometheus's text format."""
        return generate_latest(self._summed())

    def families(self) -> Iterable[Metric]:
        """Return all of it as `text` does, but not yet as text."""
        return self._summed().collect()

    def _summed(self) -> CollectorRegistry:
        self.add_answers()
        if not self._shared:
            return self.registry
        every = CollectorRegistry()
        MultiProcessCollector(every, self._shared)  # type: ignore[no-untyped-call]
        for each in (self._model, self._live, self._night, self.reports):
            every.register(each)
        return every


class _Model(Collector):
    """Tells Prometheus which model answers, and whether what it reads can be read."""

    def __init__(self, stale_days: float) -> None:
        self.stale_days = stale_days
        self.loaded: LoadedModel | None = None
        self.standings: Mapping[str, Standing] = {}
        self.reached = True
        self.tokens = True

    def collect(self) -> Iterator[Metric]:
        """Yield what there is to know of it."""
        info = InfoMetricFamily("birthmark_model", "The model that answers")
        created = GaugeMetricFamily(
            "birthmark_model_created_time_seconds", "When it was trained, Unix time"
        )
        abstaining = GaugeMetricFamily(
            "birthmark_abstaining",
            "Whether a predicate is never a yes because its bound was broken",
            labels=["predicate"],
        )
        if (model := self.loaded) is not None:
            info.add_metric([], {"version": model.version, "kind": model.kind})
            created.add_metric([], datetime.fromisoformat(model.manifest["created"]).timestamp())
            for predicate in model.answerer.predicates:
                abstaining.add_metric([predicate], predicate in model.abstaining)
        reached = GaugeMetricFamily(
            "birthmark_registry_read",
            "Whether the registry could be read when it was last looked at",
            self.reached,
        )
        tokens = GaugeMetricFamily(
            "birthmark_tokens_read",
            "Whether the file of tokens, if there is one, could be read when it was last looked at",
            self.tokens,
        )
        stale = GaugeMetricFamily(
            "birthmark_model_stale_seconds",
            "The age from which a model is warned of (--stale-days)",
            86_400 * self.stale_days,
        )
        yield from (info, created, stale, abstaining, self._bounds(), reached, tokens)

    def _bounds(self) -> Metric:
        """Return a sample for each predicate that has a bound, and each standing it may have."""
        found = GaugeMetricFamily(
            "birthmark_bound_standing",
            "Whether this is what audits know of a predicate's bound",
            labels=["predicate", "standing"],
        )
        model = self.loaded
        if model is not None and model.point == "bounded":
            for predicate in model.answerer.predicates:
                known = self.standings.get(predicate, Standing.UNSEEN)
                for standing in Standing:
                    found.add_metric([predicate, standing], standing is known)
        return found


class Measured:
    """An ASGI application that times the requests to `app`, by those of its `routes` they take.

    Each has an id, its own or a new one, which its response and the log repeat; with `access` the
    log has a line for each. Where `app` fails before it answers, the client is told so.
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
        asked = service_log.id_of(scope)
        told = (service_log.REQUEST_ID, asked)
        service_log.request.set(asked.decode())

        async def noting(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], told, NOSNIFF]
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
