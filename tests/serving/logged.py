"""A model's answers for creates, as the prediction log has them."""

from __future__ import annotations

import pyarrow as pa

from birthmark.serving.log.prediction_log import Served
from birthmark.serving.models.loaded import LoadedModel


def served(model: LoadedModel, creates: pa.Table) -> Served:
    """Return a model's answers for `creates`."""
    answers = model.answers(creates)
    three_way = {key: each.in_words() for key, each in model.three_way_answers(creates).items()}
    return Served(creates, answers, model.version, model.kind, model.point, three_way)
