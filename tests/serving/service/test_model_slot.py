"""Tests also serving/models/, training/registry/published.py."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.features import from_requests
from birthmark.predictor import TrainedModel
from birthmark.predictor.allocation.verdicts import USUAL_ROOM, hint_image
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.saved_images import HINTS_IMAGE, IMAGE
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.models.loaded import load_model
from birthmark.serving.service.model_slot import ModelSlot
from birthmark.serving.settings import Settings
from birthmark.training.registry.published import NoModelError
from birthmark.training.registry.versions import Registry, RegistryError
from tests.builders.abstaining import above_all_scores, abstain
from tests.layout_hint.laid import VERSION_AT, sealed
from tests.serving.answers.test_arrow_answers import arrow

Publish = Callable[..., str]
Served = Callable[..., Any]
Eventually = Callable[..., bool]


def version(client: httpx.Client) -> str | None:
    body = client.get("/v1/model").json()
    return str(body["version"]) if "version" in body else None


def damage(registry: Path, version: str) -> None:
    """Change one byte in a part of `version`, in one step."""
    directory = Registry(registry).directory(version)
    part = next(p for p in sorted(directory.rglob("*")) if p.is_file() and p.suffix != ".json")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    (registry / "damaged").write_bytes(content)
    (registry / "damaged").replace(part)


def point(registry: Path, version: str) -> None:
    """Make `version` the current one without verifying it."""
    (registry / "pointer").write_text(version + "\n")
    (registry / "pointer").replace(registry / "current")


def test_the_published_model_is_loaded_as_the_kind_it_was_published_to_serve(
    tmp_path: Path, publish: Publish
) -> None:
    published = publish(tmp_path)
    model = load_model(Registry(tmp_path))
    assert (model.version, model.kind) == (published, "name")
    assert load_model(Registry(tmp_path), "able").kind == "able"


def test_a_registry_without_a_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(NoModelError, match=str(tmp_path)):
        load_model(Registry(tmp_path))


@pytest.mark.parametrize("name", ["registry", "regsitry"])
def test_a_service_without_a_model_logs_once_where_it_looked(
    tmp_path: Path,
    served: Served,
    settings_for: Callable[..., Settings],
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    (tmp_path / "registry").mkdir()
    with served(settings_for(tmp_path / name)) as client:
        assert client.put("/v1/model", json={"version": None}).status_code >= 400
    why = {"registry": "nothing was ever published", "regsitry": "(did you mean 'registry'?)"}[name]
    (message,) = [line for line in caplog.messages if "until a model is published" in line]
    assert f"{tmp_path / name}: " in message
    assert message.endswith(why)


def test_a_damaged_model_is_an_error_that_names_the_file(tmp_path: Path, publish: Publish) -> None:
    damage(tmp_path, publish(tmp_path))
    with pytest.raises(RegistryError, match=r"versions/.*expected .*SHA-256"):
        load_model(Registry(tmp_path))


def test_a_version_without_a_kind_to_serve_is_an_error(tmp_path: Path) -> None:
    def write_parts(directory: Path) -> None:
        (directory / "part").write_text("")

    Registry(tmp_path).publish(write_parts, {})
    with pytest.raises(
        RegistryError, match=r"expected serve to be name or .* or forest or best, found None"
    ):
        load_model(Registry(tmp_path))


def test_a_service_started_before_the_first_model_is_ready_once_there_is_one(
    settings: Settings, publish: Publish, served: Served, eventually: Eventually
) -> None:
    with served(settings) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
        publish(settings.registry)
        assert eventually(lambda: client.get("/readyz").status_code == 200)


@pytest.mark.parametrize("name", ["thresholds.json", "current"])
def test_a_fifo_in_the_registry_does_not_block(
    settings: Settings,
    publish: Publish,
    served: Served,
    eventually: Eventually,
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    first, path = publish(settings.registry), Path(settings.registry) / name
    with served(settings) as client:
        assert eventually(lambda: client.get("/readyz").status_code == 200)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        assert eventually(lambda: f"expected a regular file: '{path}'" in caplog.text)
        assert client.get("/v1/model").json()["version"] == first
        path.unlink()
        second = publish(settings.registry)
        assert eventually(lambda: client.get("/v1/model").json()["version"] == second)


def test_a_service_that_began_on_a_damaged_model_is_ready_once_it_is_mended(
    settings: Settings,
    publish: Publish,
    served: Served,
    eventually: Eventually,
    caplog: pytest.LogCaptureFixture,
) -> None:
    only = publish(settings.registry)
    damage(settings.registry, only)
    with served(settings) as client:
        assert client.get("/readyz").status_code == 503
        damage(settings.registry, only)  # restores the byte
        assert eventually(lambda: client.get("/readyz").status_code == 200)
    assert caplog.text.count("cannot be loaded") == 1


def test_a_damaged_new_model_leaves_the_old_one_serving_until_it_is_mended(
    settings: Settings,
    publish: Publish,
    served: Served,
    eventually: Eventually,
    caplog: pytest.LogCaptureFixture,
) -> None:
    old = publish(settings.registry)
    new = publish(settings.registry, current=False)
    damage(settings.registry, new)
    with served(settings) as client:
        assert version(client) == old
        point(settings.registry, new)
        failed = 'birthmark_model_loads_total{outcome="failed"} 1.0'
        assert eventually(lambda: failed in client.get("/metrics").text)
        assert version(client) == old
        assert client.post("/v1/predictions", json={"name": "a"}).json()["model"] == old
        assert f"{old} still answers" in caplog.text
        assert str(settings.registry / "versions" / new) in caplog.text
        damage(settings.registry, new)  # restores the byte
        point(settings.registry, new)
        assert eventually(lambda: version(client) == new)


@pytest.mark.deep
def test_every_request_during_swaps_is_answered_from_exactly_one_version(
    settings: Settings, publish: Publish, served: Served, eventually: Eventually
) -> None:
    """Each version knows one of two kinds of names; no answer mixes versions, and none is lost."""
    pairs = 20
    body = json.dumps([{"name": "x.lock"}, {"name": "x.tmp"}] * pairs)
    knows = {publish(settings.registry, "lock"): "lock"}
    seen_answers: set[tuple[str, str]] = set()
    swapping = True

    def hammer(url: httpx.URL) -> None:
        with httpx.Client(base_url=url, timeout=30) as client:
            while swapping:
                response = client.post("/v1/predictions", content=body)
                assert response.status_code == 200
                answer = response.json()
                answered = [p["predicates"]["lifespan<=1"] for p in answer["predictions"]]
                assert answered == answered[:2] * pairs
                seen_answers.add((answer["model"], {"yes": "lock", "no": "tmp"}[answered[0]]))

    with served(settings) as client, ThreadPoolExecutor(3) as threads:
        hammers = [threads.submit(hammer, client.base_url) for _ in range(3)]
        try:
            for suffix in ("tmp", "lock", "tmp"):
                knows[publish(settings.registry, suffix)] = suffix
                assert eventually(lambda: seen_answers == set(knows.items()))
        finally:
            swapping = False
        for each in hammers:
            each.result()


def test_a_version_is_stored_with_its_images_and_answers_without_them_alike(
    tmp_path: Path, publish: Publish
) -> None:
    registry = Registry(tmp_path)
    stored = registry.directory(publish(tmp_path, heat=True))
    trained = TrainedModel.load(stored)
    image = compile_models(trained.models["name"], assignments=trained.assignments)
    assert (stored / IMAGE).read_bytes() == image
    assert (stored / HINTS_IMAGE).read_bytes() == hint_image(trained, "name")
    with_images = load_model(registry)
    manifest = registry.manifest(with_images.version)

    def without_images(directory: Path) -> None:
        for part in manifest["parts"]:
            if not part.endswith(".image"):
                shutil.copy(stored / part, directory / part)

    registry.publish(without_images, {key: manifest[key] for key in ("serve", "point")})
    without = load_model(registry)
    creates = from_requests([{"name": name} for name in (b"x.lock", b"page.html", b"a.log")])
    assert without.version != with_images.version
    assert without.answers(creates) == with_images.answers(creates)
    assert without.hints is not None
    assert with_images.hints is not None
    assert without.hints.content == with_images.hints.content


def test_an_image_of_another_kind_than_is_served_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "day"
    ingest([str(DAYS[0])], folder)
    files, names = read_files(folder), read_names(folder)
    model = TrainedModel(calibration=0).train(files, names, kinds=("name", "rules"))
    registry = Registry(tmp_path / "registry")
    registry.publish(model.save, {"serve": "name", "point": "accurate"})
    loaded = load_model(registry)
    creates = from_requests(
        [{"name": name} for name in (b"conftest.c", b"x.lock", b"places.sqlite")]
    )
    assert loaded.answers(creates) == model.predict(creates, "name")


def test_a_version_whose_images_are_of_an_older_format_answers_alike(
    tmp_path: Path,
    settings: Settings,
    publish: Publish,
    served: Served,
    caplog: pytest.LogCaptureFixture,
) -> None:
    current = Registry(tmp_path)
    stored = current.directory(publish(tmp_path, heat=True))
    manifest = current.manifest(stored.name)

    def with_older_images(directory: Path) -> None:
        for part in manifest["parts"]:
            content = (stored / part).read_bytes()
            older = sealed(content, VERSION_AT, 1) if part.endswith(".image") else content
            (directory / part).write_bytes(older)

    Registry(settings.registry).publish(
        with_older_images, {key: manifest[key] for key in ("serve", "point")}
    )
    caplog.set_level("INFO")
    older, newer = load_model(Registry(settings.registry)), load_model(current)
    creates = from_requests([{"name": name} for name in (b"x.lock", b"page.html", b"a.log")])
    assert older.answers(creates) == newer.answers(creates)
    assert older.three_way_answers(creates) == newer.three_way_answers(creates)
    assert older.hints is not None
    assert newer.hints is not None
    assert older.hints.content == newer.hints.content
    assert f"model {older.version}: model.image has an older format" in caplog.text
    with served(settings) as client:
        assert client.get("/readyz").status_code == 200
        assert client.get("/v1/model/image").content == newer.hints.content
        answer = client.post("/v1/predictions", json=[{"name": "x.lock"}]).json()
        assert answer["predictions"][0]["predicates"]["lifespan<=1"] == "yes"


def test_a_predicate_with_too_many_false_positives_is_no_until_another_version_is_published(
    settings: Settings, publish: Publish, served: Served, eventually: Eventually
) -> None:
    publish(settings.registry)
    asked = {"name": "x.lock"}

    def answered(client: httpx.Client, path: str = "/v1/predictions") -> Any:
        answer = client.post(path, json=asked).json()
        return answer["prediction"]["predicates"]["lifespan<=1"]

    with served(settings) as client:
        assert answered(client) == "yes"
        abstain(Registry(settings.registry), "lifespan<=1")
        assert eventually(lambda: answered(client) == "no")
        metric = 'birthmark_abstaining{predicate="lifespan<=1"} 1.0'
        assert metric in client.get("/metrics").text
        assert answered(client, "/v1/explanations")["answer"] == "no"
        assert answered(client, "/v1/explanations")["threshold"] is None
        table = pa.table({"name": [b"x.lock"]})
        assert arrow(client, table)["lifespan<=1"].to_pylist() == [False]
        publish(settings.registry)
        assert eventually(lambda: answered(client) == "yes")
        assert metric not in client.get("/metrics").text


def test_a_refresh_keeps_the_thresholds_in_force(tmp_path: Path, publish: Publish) -> None:
    registry = Registry(tmp_path / "registry")
    publish(registry.path)
    slot = ModelSlot(registry, None, None, USUAL_ROOM, Metrics(stale_days=2))
    asyncio.run(slot.refresh())
    assert slot.model is not None
    base, before = slot.model.version, slot.model
    predicate = before.answerer.predicates[0]
    before.apply_thresholds(above_all_scores(base, before.kind, before.bound, predicate))

    def write(copy: Path) -> None:
        shutil.copytree(registry.directory(base), copy, dirs_exist_ok=True)
        (copy / "manifest.json").unlink()

    refresh = registry.refresh(write, registry.manifest(base))
    asyncio.run(slot.refresh())
    assert slot.model is not before
    assert (slot.model.version, slot.model.base) == (refresh, base)
    assert slot.model.moved_thresholds == before.moved_thresholds != {}
    registry.publish(write, registry.manifest(base))
    asyncio.run(slot.refresh())
    assert (slot.model.base, slot.model.moved_thresholds) == (slot.model.version, {})
