"""Sampling of requests for the prediction log, if there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from prometheus_client import CollectorRegistry, Counter

from birthmark.serving.models.images import ImageModel
from birthmark.serving.settings import Settings

if TYPE_CHECKING:  # most services have no log, and need not import its writer
    from birthmark.serving.log.prediction_log import PredictionLog, Resolver


class LogSampler:
    """Passes answered requests to the log, if there is one."""

    def __init__(self, log: PredictionLog | None = None) -> None:
        self._log = log
        self._resolver: Resolver | None = None

    def predictions(
        self,
        model: ImageModel,
        format: Literal["json", "arrow"],
        body: bytes,
        files: int,
        answers: bytes,
        at: float,
    ) -> None:
        """Log a sampled body of `files`, with its answers `at` a time."""
        if self._log is not None:
            resolver, size = self._resolver_for(model), len(body) + len(answers)
            resolve = resolver.arrow if format == "arrow" else resolver.json
            self._log.offer(resolve, (body, answers), files, size, at)

    def hint(self, model: ImageModel, body: bytes, verdict: int, at: float) -> None:
        """Log a sampled create and its verdict."""
        if self._log is not None:
            self._log.offer(self._resolver_for(model).hints, (body, verdict), 1, len(body), at)

    def drop(self, rows: int) -> None:
        """Count rows that the front has dropped."""
        if self._log is not None and rows:
            self._log.drop(rows)

    def _resolver_for(self, model: ImageModel) -> Resolver:
        resolver = self._resolver
        if resolver is None or resolver.model is not model:
            from birthmark.serving.log.prediction_log import Resolver

            self._resolver = resolver = Resolver(model)
        return resolver


@contextmanager
def logged(settings: Settings, registry: CollectorRegistry) -> Iterator[LogSampler]:
    """Yield the sampler of the `settings`, and write all pending rows at the end.

    `registry` gets the counter of rows by outcome.
    """
    if settings.log_predictions is None:
        yield LogSampler()
        return
    from birthmark.serving.log.prediction_log import OUTCOMES, PredictionLog

    counter = Counter(
        "birthmark_log_rows",
        "Rows for the prediction log: written, dropped while it is behind, or failed",
        ["outcome"],
        registry=registry,
    )
    counters = {outcome: counter.labels(outcome) for outcome in OUTCOMES}
    log = PredictionLog(
        settings.log_predictions,
        settings.log_mapping,
        seconds=60 * settings.log_minutes,
        days=settings.log_days,
        tell=lambda outcome, rows: counters[outcome].inc(rows),
    )
    log.start()
    try:
        yield LogSampler(log)
    finally:
        log.close()
