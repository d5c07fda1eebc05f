"""What the prediction log keeps of the requests to the service: worked out from their bodies."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from features.creates import from_requests
from serving.models import LoadedModel
from serving.prediction_log import PredictionLog, Served
from serving.requests import parse

_EACH = b'"predicates":{'


class Bodies:
    """Works out what a model was asked by requests' bodies, and answered."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model

    def __call__(self, bodies: Sequence[bytes]) -> Served:
        """Return what was asked by all of `bodies`, in their order."""
        parsed = map(parse, bodies)
        files = [file for one in parsed for file in (one if isinstance(one, list) else [one])]
        return served(self.model, from_requests([file.create() for file in files]))


def served(model: LoadedModel, creates: pa.Table) -> Served:
    """Return what a model answers to `creates`."""
    answers = model.trained.predict(creates, model.kind, model.point)
    return Served(creates, answers, model.version, model.kind, model.point)


class Logged:
    """Hands what a sample of requests was answered to a log."""

    def __init__(self, log: PredictionLog) -> None:
        self._log = log
        self._bodies: Bodies | None = None

    def note(self, model: LoadedModel, body: bytes, answer: bytes) -> None:
        """Take note of a request's body and the JSON that answers it, if it is of the sample."""
        if self._log.sampled():
            if self._bodies is None or self._bodies.model is not model:
                self._bodies = Bodies(model)
            # in a name's text the quotes would have backslashes
            self._log.offer(self._bodies, body, answer.count(_EACH), len(body))
