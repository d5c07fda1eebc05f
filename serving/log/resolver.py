"""What the prediction log keeps of the requests to the service: worked out from their bodies."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from birthmark.features.creates import from_requests
from birthmark.predictor.allocation.verdicts import HINTS
from birthmark.serving.answers import arrow_answers
from birthmark.serving.answers.json_answers import creates_of
from birthmark.serving.log.prediction_log import Served
from birthmark.serving.messages.requests import parse_hint
from birthmark.serving.models.loaded import LoadedModel

HINTED = "hints"
"""The point of hints in the log: their thresholds are their own, and promise no bound."""


class Resolver:
    """Works out what one model was asked and answered, by the forms of requests."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model

    def json(self, bodies: Sequence[bytes]) -> Served:
        """Return what was asked by bodies of files in JSON."""
        return served(self.model, creates_of(bodies))

    def arrow(self, bodies: Sequence[bytes]) -> Served:
        """Return what was asked by streams in Arrow's format."""
        return served(self.model, pa.concat_tables(map(arrow_answers.creates, bodies)))

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
