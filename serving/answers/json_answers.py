"""From files to predictions, and to explanations: the same for the service and the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from birthmark.features.creates import from_requests
from birthmark.predictor.models import model_set
from birthmark.serving.messages import responses
from birthmark.serving.messages.requests import FileRequest, canonical, parse, parse_hint
from birthmark.serving.messages.responses import (
    Answer,
    Answered,
    Explanation,
    ListExplained,
    OneExplained,
)
from birthmark.serving.models.hint_image import Hints
from birthmark.serving.models.loaded import LoadedModel
from birthmark_native import requested


def predict(model: LoadedModel, body: bytes) -> tuple[bytes, int]:
    """Return the JSON that answers a body of files, from the model's compiled image; and how many.

    Raises ``pydantic.ValidationError`` for what is not JSON and for what is not such files.
    """
    answer = usual_prediction(model, body)
    if answer is None:  # in a form that only the schema reads, or wrong
        answer = usual_prediction(model, canonical(parse(body)))
        assert answer is not None
    return answer


def usual_prediction(model: LoadedModel, body: bytes) -> tuple[bytes, int] | None:
    """Return what ``predict`` does; None where the schema has to look at the body first."""
    return model.answerer.json(body)


def creates_of(bodies: Sequence[bytes]) -> pa.Table:
    """Return the creates that bodies ask ``predict`` about, one after the other.

    They have those columns of ``features.CREATES`` that requests tell.
    """
    asked = requested(list(bodies))
    if asked is None:  # one of them is in a form that only the schema reads
        asked = requested([canonical(parse(body)) for body in bodies])
        assert asked is not None
    return pa.Table.from_batches([asked])


def hint(hints: Hints, body: bytes) -> int:
    """Return the bits of the verdict on the create that a body is about; raise as ``predict``."""
    verdict = usual_hint(hints, body)
    if verdict is None:
        verdict = usual_hint(hints, parse_hint(body).canonical())
        assert verdict is not None
    return verdict


def usual_hint(hints: Hints, body: bytes) -> int | None:
    """Return what ``hint`` does; None where the schema has to look at the body first."""
    return hints.answerer.hint(body)


def explain_one(model: LoadedModel, file: FileRequest) -> OneExplained:
    """Return every predicate's answer for one file, and the evidence for it."""
    (explanation,) = _explain(model, [file])
    return {**_answered(model), "prediction": explanation}


def explain_list(model: LoadedModel, files: Sequence[FileRequest]) -> ListExplained:
    """Return every predicate's answer for each of `files`, and the evidence for it."""
    return {**_answered(model), "predictions": _explain(model, files)}


def _answered(model: LoadedModel) -> Answered:
    return {"model": model.version, "kind": model.kind, "point": model.point}


def _explain(model: LoadedModel, files: Sequence[FileRequest]) -> list[Explanation]:
    creates = from_requests([file.create() for file in files])
    explained = model.trained.explain(creates, model.kind, model.point)
    return [
        {
            **file.echo(),  # type: ignore[typeddict-item]  # one of the members for a name
            "predicates": {
                predicate: _answer(found, predicate in model.abstaining)
                for predicate, found in answers.items()
            },
            **said,
        }
        for file, answers, said in zip(files, explained, _said(model, creates), strict=True)
    ]


def _said(model: LoadedModel, creates: pa.Table) -> Iterator[responses.Said]:
    """Yield what is said of each create."""
    columns = model.said(creates)
    for row in range(len(creates)):
        yield {
            "answers": {key: said.word(row) for key, said in columns.items()},
            "probabilities": {key: said.probability(row) for key, said in columns.items()},
        }


def _answer(found: model_set.Answer, abstains: bool) -> Answer:
    return {
        "answer": "yes" if found.answer and not abstains else "no",
        "evidence": found.evidence,
        "score": found.score,
        "threshold": None if abstains else found.threshold,
        "upper": found.upper,
    }
