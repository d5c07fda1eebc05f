"""Predictions and explanations in JSON, for the service and the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.models import model_set
from birthmark.predictor.models.model_set import history_scope_by_predicate
from birthmark.predictor.predicates.assignments import premises
from birthmark.serving.answers.histories import freshness, with_histories
from birthmark.serving.messages import responses
from birthmark.serving.messages.requests import Files
from birthmark.serving.messages.responses import (
    Answer,
    AnsweredBy,
    Explanation,
    ListExplained,
    OneExplained,
)
from birthmark.serving.models.hint_image import Hints
from birthmark.serving.models.loaded import LoadedModel


def predict(model: LoadedModel, body: bytes) -> tuple[bytes, int, bytes]:
    """Return the answer in JSON to a body of files, from the model's compiled image.

    Also returns the number of files and their answers for the log (`Answerer.json`). Raises
    `InvalidRequestError` for a body that is not JSON or not such files.
    """
    return model.answerer.json(body)


def hint(hints: Hints, body: bytes) -> int:
    """Return the bits of the verdict on the create in a body; raise as ``predict``."""
    return hints.answerer.hint(body)


def explain_one(model: LoadedModel, files: Files) -> OneExplained:
    """Return every predicate's answer for one file, and the evidence for it."""
    (explanation,) = _explain(model, files)
    return {**_answered_by(model, files), "prediction": explanation}


def explain_list(model: LoadedModel, files: Files) -> ListExplained:
    """Return every predicate's answer for each of `files`, and the evidence for it."""
    return {**_answered_by(model, files), "predictions": _explain(model, files)}


def _answered_by(model: LoadedModel, files: Files) -> AnsweredBy:
    answered: AnsweredBy = {"model": model.version, "kind": model.kind, "point": model.point}
    if model.live is not None:
        answered["live"] = freshness(model.live)
    if files.warnings:
        answered["warnings"] = list(files.warnings)
    return answered


def _explain(model: LoadedModel, files: Files) -> list[Explanation]:
    creates = with_histories(model.live, files.table)
    explained = model.trained.explain(creates, model.kind, model.point)
    rows = _three_answers(model, creates)
    scopes = history_scope_by_predicate(creates, model.answerer.predicates)
    explanations: list[Explanation] = []
    for row, (name, answers, three) in enumerate(zip(files.names, explained, rows, strict=True)):
        by_predicate = {
            key: _answer(model, key, HISTORY_SCOPES[scopes[key][row]], raw)
            for key, raw in answers.items()
        }
        explanations.append(
            {
                **name,  # type: ignore[typeddict-item]  # one of the members for a name
                "predicates": by_predicate,
                "implied": _implied(model, by_predicate, three),
                "unseen": _unseen(by_predicate),
                **three,
            }
        )
    return explanations


def _implied(
    model: LoadedModel, by_predicate: Mapping[str, Answer], three: responses.ThreeAnswers
) -> dict[str, list[str]]:
    """Return each yes that only follows from other answers, with these."""
    answers = three["answers"]
    return {
        key: premises(model.trained.assignments, answers, key)
        for key, answer in answers.items()
        if answer == "yes" and by_predicate[key]["answer"] == "no"
    }


def _unseen(by_predicate: Mapping[str, Answer]) -> list[str]:
    """Return the sentences about combinations that training data did not have, each once."""
    evidence = (answer["evidence"] for answer in by_predicate.values())
    return list(dict.fromkeys(text for each in evidence for text in each.get("unseen", ())))


def _three_answers(model: LoadedModel, creates: pa.Table) -> Iterator[responses.ThreeAnswers]:
    """Yield the three-way answers for each create."""
    columns = model.three_way_answers(creates)
    for row, scope in enumerate(model.scopes_used(creates)):
        yield {
            "answers": {key: answer.word(row) for key, answer in columns.items()},
            "probabilities": {key: answer.probability(row) for key, answer in columns.items()},
            "told": HISTORY_SCOPES[scope],
        }


def _answer(model: LoadedModel, key: str, scope: HistoryScope, raw: model_set.Answer) -> Answer:
    """Return an answer at the threshold in force, which may differ from calibration."""
    moved = model.moved_thresholds.get((key, scope))
    if moved is not None and moved.sum is None:
        moved = None
    threshold = raw.threshold if moved is None else moved.score
    return {
        "answer": "yes" if threshold is not None and raw.score >= threshold else "no",
        "kind": raw.kind,
        "evidence": raw.evidence,
        "score": raw.score,
        "threshold": threshold,
        "upper": raw.upper if moved is None else None,
    }
