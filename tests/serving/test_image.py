"""The service gives the same answers as a compiled image of the same model.

The forest explains a row in milliseconds, others in microseconds, so fewer rows are tried.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.traces.reader import open_trace
from birthmark.features import History, from_files, from_requests
from birthmark.predictor import TrainedModel, births
from birthmark.predictor.image.format import predict
from birthmark.predictor.models.compile import compile_models
from birthmark.serving.client.questions import written
from birthmark.training.registry.versions import Registry
from birthmark_native import Image

pytestmark = pytest.mark.deep

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
KINDS = {"name": 1, "able": 1, "rules": 1, "forest": 50}
"""The kinds of models, and the step between rows that are tried."""

AT_ONCE = 3000


@pytest.fixture(scope="module")
def days() -> list[tuple[pa.Table, pa.Table]]:
    return [lives.tables(open_trace(str(SAMPLES / f"day{day}.parquet"))) for day in (1, 2)]


@pytest.fixture(scope="module")
def model(days: list[tuple[pa.Table, pa.Table]]) -> TrainedModel:
    return TrainedModel(trees=8, rounds=5).train(*days[0], kinds=tuple(KINDS))


def as_request(create: dict[str, Any]) -> dict[str, Any]:
    """Return the request for a create; these models need no directory."""
    known = {key: create[key] for key in ("mode", "uid", "gid", "client")}
    known |= {"time": create["time"].isoformat(), "history": b64encode(create["history"]).decode()}
    known = {key: value for key, value in known.items() if value is not None}
    return {**written("name", create["name"]), **known}


def asked(client: httpx.Client, requests: list[dict[str, Any]]) -> dict[str, list[bool]]:
    answers: dict[str, list[bool]] = {}
    for start in range(0, len(requests), AT_ONCE):
        response = client.post("/v1/predictions", json=requests[start : start + AT_ONCE])
        assert response.status_code == 200, response.text
        for prediction in response.json()["predictions"]:
            for key, answer in prediction["predicates"].items():
                answers.setdefault(key, []).append(answer == "yes")
    return answers


@pytest.mark.parametrize(
    ("kind", "point"), [(k, "bounded") for k in KINDS] + [("rules", "accurate")]
)
def test_every_bundled_row_is_answered_over_http_as_by_the_image(
    kind: str,
    point: Any,
    days: list[tuple[pa.Table, pa.Table]],
    model: TrainedModel,
    settings_for: Callable[..., Any],
    served: Callable[..., Any],
    tmp_path: Path,
) -> None:
    Registry(tmp_path).publish(
        model.save, {"serve": kind, "point": point, "trained_on": {}, "figures": []}
    )
    history = History()
    lives_ = [births(files) for files, _ in days]
    with_history = [each.append_column("history", history.follow(each)) for each in lives_]
    creates = pa.concat_tables([from_files(each) for each in with_history]).unify_dictionaries()
    creates = creates.take(list(range(0, len(creates), KINDS[kind])))
    requests = [as_request(create) for create in creates.to_pylist()]
    image = predict(
        Image(compile_models(model.models[kind], point)),
        from_requests([{**create, "dir_fh": None} for create in creates.to_pylist()]),
    )
    with served(settings_for(tmp_path)) as client:
        answers = asked(client, requests)
    assert sorted(answers) == sorted(image)
    yes = 0
    for key, column in image.items():
        assert answers[key] == column.to_pylist(), key
        yes += column.true_count
    assert yes > 0
