"""From files to predictions: the same for the service and for the command line."""

from __future__ import annotations

from collections.abc import Sequence

from features.creates import from_requests
from serving.models import LoadedModel
from serving.requests import FileRequest
from serving.responses import Answered, ListResponse, OneResponse, Prediction


def answer_one(model: LoadedModel, file: FileRequest) -> OneResponse:
    """Return every predicate's answer for one file."""
    (prediction,) = _predict(model, [file])
    return {**_answered(model), "prediction": prediction}


def answer_list(model: LoadedModel, files: Sequence[FileRequest]) -> ListResponse:
    """Return every predicate's answer for each of `files`."""
    return {**_answered(model), "predictions": _predict(model, files)}


def _answered(model: LoadedModel) -> Answered:
    return {"model": model.version, "kind": model.kind, "point": model.point}


def _predict(model: LoadedModel, files: Sequence[FileRequest]) -> list[Prediction]:
    creates = from_requests([file.create() for file in files])
    explained = model.trained.explain(creates, model.kind, model.point)
    return [
        {
            **file.echo(),  # type: ignore[typeddict-item]  # one of the members for a name
            "predicates": {
                predicate: {
                    "answer": "yes" if found.answer else "no",
                    "evidence": found.evidence,
                    "score": found.score,
                    "threshold": found.threshold,
                    "upper": found.upper,
                }
                for predicate, found in answers.items()
            },
        }
        for file, answers in zip(files, explained, strict=True)
    ]
