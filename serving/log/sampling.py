"""Which requests to the service the prediction log keeps, if there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
from prometheus_client import CollectorRegistry, Counter

from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.settings import Settings

if TYPE_CHECKING:  # most services keep no log, and need not what writes one
    from birthmark.serving.log.prediction_log import PredictionLog
    from birthmark.serving.log.resolver import Resolver


class LogSampler:
    """Hands what was answered to a log, if there is one and the request is of its sample."""

    def __init__(self, log: PredictionLog | None = None) -> None:
        self._log = log
        self._resolver: Resolver | None = None

    def predictions(self, model: LoadedModel, body: bytes, files: int, seen: bytes) -> None:
        """Take note of a body of so many `files` that was answered, told what was `seen`."""
        if self._log is not None and self._log.sampled():
            self._log.offer(self._of(model).json, (body, seen), files, len(body) + len(seen))

    def stream(self, model: LoadedModel, asked: pa.Table) -> None:
        """Take note of creates (`features.CREATES`) that were answered."""
        if self._log is not None and self._log.sampled():
            self._log.offer(self._of(model).arrow, asked, len(asked), asked.nbytes)

    def hint(self, model: LoadedModel, body: bytes, verdict: int) -> None:
        """Take note of a create, and of the verdict on it."""
        if self._log is not None and self._log.sampled():
            self._log.offer(self._of(model).hints, (body, verdict), 1, len(body))

    def _of(self, model: LoadedModel) -> Resolver:
        resolver = self._resolver
        if resolver is None or resolver.model is not model:
            from birthmark.serving.log.resolver import Resolver

            self._resolver = resolver = Resolver(model)
        return resolver


@contextmanager
def logged(settings: Settings, registry: CollectorRegistry) -> Iterator[LogSampler]:
    """Yield what logs as `settings` say, and write all that is left at the end.

    What becomes of the rows is counted in `registry`.
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
    of = {outcome: counter.labels(outcome) for outcome in OUTCOMES}
    log = PredictionLog(
        settings.log_predictions,
        settings.log_share,
        settings.log_mapping,
        seconds=60 * settings.log_minutes,
        days=settings.log_days,
        tell=lambda outcome, rows: of[outcome].inc(rows),
    )
    log.start()
    try:
        yield LogSampler(log)
    finally:
        log.close()
