from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from birthmark.serving.models.images import Tallies, load_images
from birthmark.serving.server.front import Front
from birthmark.serving.server.run import listen, url
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry


def test_stored_images_answer_before_the_application_listens(
    publish: Callable[..., str], settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    registry = Registry(tmp_path / "registry")
    version = publish(registry.path, heat=True)
    description = json.loads((registry.directory(version) / "model.json").read_text())
    kind: Any = description["images"]
    settings = settings_for(registry.path, model=kind, timeout_seconds=0.1)
    first = load_images(settings, tallies := Tallies())
    assert first is not None
    front = Front(settings, tmp_path / "application")
    with listen(settings) as listener:
        front.publish(first)
        front.accept(listener)
        with httpx.Client(base_url=url(listener)) as client:
            answer = client.post("/v1/predictions", json={"name": "a.lock"}).json()
            hint = client.post("/v1/hints", json={"name": "a.lock"})
            image = client.get("/v1/model/image")
            waiting = client.get("/readyz")
        front.stop(1)
    assert (answer["model"], answer["kind"]) == (version, kind)
    assert hint.status_code == image.status_code == 200
    assert tallies.predictions.take().keys() == answer["prediction"]["predicates"].keys()
    assert (waiting.status_code, waiting.headers["retry-after"]) == (503, "1")


def test_what_must_be_compiled_waits_for_the_models(
    publish: Callable[..., str], settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    publish(tmp_path / "registry", heat=True)
    other_kind: dict[str, Any] = {"model": "forest"}
    for other in (other_kind, {"region": "8M"}, {"registry": tmp_path / "empty"}):
        settings = settings_for(**{"registry": tmp_path / "registry", **other})
        assert load_images(settings, Tallies()) is None
