"""From files to predictions, and to explanations: the same for the service and the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from birthmark.features.told import TOLD, Told
from birthmark.predictor.models import model_set
from birthmark.predictor.models.model_set import told_by_key
from birthmark.serving.answers.histories import freshness, with_histories
from birthmark.serving.messages import responses
from birthmark.serving.messages.requests import Files
from birthmark.serving.messages.responses import (
    Answer,
    Answered,
    Explanation,
    ListExplained,
    OneExplained,
)
from birthmark.serving.models.hint_image import Hints
from birthmark.serving.models.loaded import LoadedModel


def predict(model: LoadedModel, body: bytes) -> tuple[bytes, int, bytes]:
    """Return the JSON that answers a body of files, from the model's compiled image.

    And how many there are, and what the live history told of them (`histories.as_they_were`).
    Raises `InvalidRequestError` for what is not JSON and for what is not such files.
    """
    return model.answerer.json(body)


def hint(hints: Hints, body: bytes) -> int:
    """Return the bits of the verdict on the create that a body is about; raise as ``predict``."""
    return hints.answerer.hint(body)


def explain_one(model: LoadedModel, files: Files) -> OneExplained:
    """Return every predicate's answer for one file, and the evidence for it."""
    (explanation,) = _explain(model, files)
    return {**_answered(model), "prediction": explanation}


def explain_list(model: LoadedModel, files: Files) -> ListExplained:
    """Return every predicate's answer for each of `files`, and the evidence for it."""
    return {**_answered(model), "predictions": _explain(model, files)}


def _answered(model: LoadedModel) -> Answered:
    answered: Answered = {"model": model.version, "kind": model.kind, "point": model.point}
    if model.live is not None:
        answered["live"] = freshness(model.live)
    return answered


def _explain(model: LoadedModel, files: Files) -> list[Explanation]:
    creates = with_histories(model.live, files.asked)
    explained = model.trained.explain(creates, model.kind, model.point)
    said = _said(model, creates)
    told = told_by_key(creates, model.answerer.predicates)
    return [
        {
            **name,  # type: ignore[typeddict-item]  # one of the members for a name
            "predicates": {
                key: _answer(model, key, TOLD[told[key][row]], found)
                for key, found in answers.items()
            },
            **words,
        }
        for row, (name, answers, words) in enumerate(zip(files.names, explained, said, strict=True))
    ]


def _said(model: LoadedModel, creates: pa.Table) -> Iterator[responses.Said]:
    """Yield what is said of each create."""
    columns = model.said(creates)
    for row, told in enumerate(model.told(creates)):
        yield {
            "answers": {key: said.word(row) for key, said in columns.items()},
            "probabilities": {key: said.probability(row) for key, said in columns.items()},
            "told": TOLD[told],
        }


def _answer(model: LoadedModel, key: str, told: Told, found: model_set.Answer) -> Answer:
    """Return an answer as it is given now, at a threshold that may have moved."""
    moved = model.moved.get((key, told))
    threshold = found.threshold if moved is None else moved.score
    if key in model.abstaining and (moved is None or not moved.regained):
        threshold = None
    return {
        "answer": "yes" if threshold is not None and found.score >= threshold else "no",
        "kind": found.kind,
        "evidence": found.evidence,
        "score": found.score,
        "threshold": threshold,
        "upper": found.upper if moved is None else None,
    }
