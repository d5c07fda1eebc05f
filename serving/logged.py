"""What the prediction log keeps of the requests to the service: worked out from their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from prometheus_client import CollectorRegistry, Counter

from features.creates import from_requests
from predictor.hints import HINTS
from serving import batches
from serving.answers import creates_of
from serving.loaded import LoadedModel
from serving.prediction_log import OUTCOMES, PredictionLog, Served
from serving.requests import parse_hint
from serving.settings import Settings

HINTED = "hints"
"""The point of hints in the log: their thresholds are their own, and promise no bound."""


class _Asked:
    """Works out what one model was asked and answered, by the forms of requests."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model

    def json(self, bodies: Sequence[bytes]) -> Served:
        """Return what was asked by bodies of files in JSON."""
        return served(self.model, creates_of(bodies))

    def arrow(self, bodies: Sequence[bytes]) -> Served:
        """Return what was asked by streams in Arrow's format."""
        return served(self.model, pa.concat_tables(map(batches.creates, bodies)))

    def hints(self, asked: Sequence[tuple[bytes, int]]) -> Served:
        """Return what was asked by bodies of one create each, and the verdicts on these.

        Of a directory, and of what is none, the hints of the other are null.
        """
        files = [parse_hint(body) for body, _ in asked]
        answers = {}
        for place, hint in enumerate(HINTS):
            of_directory = hint == "HotDir"
            values = [
                bool(verdict >> place & 1) if file.is_directory is of_directory else None
                for file, (_, verdict) in zip(files, asked, strict=True)
            ]
            answers[hint] = pa.array(values, pa.bool_())
        creates = from_requests([file.create() for file in files])
        return Served(creates, answers, self.model.version, self.model.kind, HINTED)


def served(model: LoadedModel, creates: pa.Table) -> Served:
    """Return what a model answers to `creates`."""
    answers = model.answers(creates, counted=False)
    said = {key: each.in_words() for key, each in model.said(creates).items()}
    return Served(creates, answers, model.version, model.kind, model.point, said)


class Logged:
    """Hands what was answered to a log, if there is one and the request is of its sample."""

    def __init__(self, log: PredictionLog | None = None) -> None:
        self._log = log
        self._asked: _Asked | None = None

    def predictions(self, model: LoadedModel, body: bytes, files: int) -> None:
        """Take note of a body of so many `files` that was answered."""
        if self._log is not None and self._log.sampled():
            self._log.offer(self._of(model).json, body, files, len(body))

    def stream(self, model: LoadedModel, body: bytes, files: int) -> None:
        """Take note of a stream of so many `files` in Arrow's format that was answered."""
        if self._log is not None and self._log.sampled():
            self._log.offer(self._of(model).arrow, body, files, len(body))

    def hint(self, model: LoadedModel, body: bytes, verdict: int) -> None:
        """Take note of a create, and of the verdict on it."""
        if self._log is not None and self._log.sampled():
            self._log.offer(self._of(model).hints, (body, verdict), 1, len(body))

    def _of(self, model: LoadedModel) -> _Asked:
        asked = self._asked
        if asked is None or asked.model is not model:
            self._asked = asked = _Asked(model)
        return asked


@contextmanager
def logged(settings: Settings, registry: CollectorRegistry) -> Iterator[Logged]:
    """Yield what logs as `settings` say, and write all that is left at the end.

    What becomes of the rows is counted in `registry`.
    """
    if settings.log_predictions is None:
        yield Logged()
        return
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
        yield Logged(log)
    finally:
        log.close()
