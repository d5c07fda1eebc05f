"""What the prediction log keeps of the requests to the service: worked out from their bodies."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import filled
from birthmark.features import CREATES
from birthmark.serving.answers.histories import as_they_were
from birthmark.serving.log.prediction_log import Served
from birthmark.serving.models.loaded import LoadedModel
from birthmark_native import HINTS, requested

HINTED = "hints"
"""The point of hints in the log: their thresholds are their own, and promise no bound."""


class Resolver:
    """Works out what one model was asked and answered, by the forms of requests."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model

    def json(self, asked: Sequence[tuple[bytes, bytes]]) -> Served:
        """Return what was asked by bodies of files in JSON, each with what was seen of these."""
        table = pa.Table.from_batches([requested([body for body, _ in asked])])
        seen = b"".join(seen for _, seen in asked)
        return served(self.model, as_they_were(filled(table, CREATES), seen))

    def arrow(self, asked: Sequence[pa.Table]) -> Served:
        """Return what was asked by streams in Arrow's format, as they were answered."""
        return served(self.model, pa.concat_tables(asked))

    def hints(self, asked: Sequence[tuple[bytes, int]]) -> Served:
        """Return what was asked by bodies of one create each, and the verdicts on these.

        Of a directory, and of what is none, the hints of the other are null.
        """
        creates = requested([body for body, _ in asked], hints=True)
        of_directory = creates["is_directory"]
        verdicts = pa.array([verdict for _, verdict in asked], pa.uint8())
        answers = {}
        for hint in HINTS:
            said = pc.not_equal(pc.bit_wise_and(verdicts, pa.scalar(hint.bit, pa.uint8())), 0)
            is_asked = pc.equal(of_directory, hint.of_directory)
            answers[hint.key] = pc.if_else(is_asked, said, None)
        told = pa.Table.from_batches([creates])
        return Served(told, answers, self.model.version, self.model.kind, HINTED)


def served(model: LoadedModel, creates: pa.Table) -> Served:
    """Return what a model answers to `creates`."""
    answers = model.answers(creates, counted=False)
    said = {key: each.in_words() for key, each in model.said(creates).items()}
    return Served(creates, answers, model.version, model.kind, model.point, said)
