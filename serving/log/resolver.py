"""Resolves logged requests into creates and answers, from their bodies."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import filled
from birthmark.features import CREATES
from birthmark.serving.answers.histories import with_recorded_histories
from birthmark.serving.log.prediction_log import Served
from birthmark.serving.models.loaded import LoadedModel
from birthmark_native import HINTS, requested

HINTED = "hints"
"""The operating point of hints in the log: they have separate thresholds, without a bound."""


class Resolver:
    """Resolves the requests to one model, by their format."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model

    def json(self, requests: Sequence[tuple[bytes, bytes]]) -> Served:
        """Resolve JSON bodies of files, each with its live histories."""
        table = pa.Table.from_batches([requested([body for body, _ in requests])])
        seen = b"".join(seen for _, seen in requests)
        return served(self.model, with_recorded_histories(filled(table, CREATES), seen))

    def arrow(self, requests: Sequence[pa.Table]) -> Served:
        """Resolve the creates of Arrow streams, as they were answered."""
        return served(self.model, pa.concat_tables(requests))

    def hints(self, requests: Sequence[tuple[bytes, int]]) -> Served:
        """Resolve bodies of one create each, with their verdicts.

        Hints that do not apply (to a directory, or to anything else) are null.
        """
        creates = requested([body for body, _ in requests], hints=True)
        of_directory = creates["is_directory"]
        verdicts = pa.array([verdict for _, verdict in requests], pa.uint8())
        answers = {}
        for hint in HINTS:
            is_yes = pc.not_equal(pc.bit_wise_and(verdicts, pa.scalar(hint.bit, pa.uint8())), 0)
            applies = pc.equal(of_directory, hint.of_directory)
            answers[hint.key] = pc.if_else(applies, is_yes, None)
        table = pa.Table.from_batches([creates])
        return Served(table, answers, self.model.version, self.model.kind, HINTED)


def served(model: LoadedModel, creates: pa.Table) -> Served:
    """Return a model's answers for `creates`."""
    answers = model.answers(creates, counted=False)
    three_way = {key: each.in_words() for key, each in model.three_way_answers(creates).items()}
    return Served(creates, answers, model.version, model.kind, model.point, three_way)
