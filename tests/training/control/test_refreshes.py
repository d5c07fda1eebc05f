"""Refreshes are published as complete versions, and go back by evidence or by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.common.durations import SECOND
from birthmark.data.samples import DAYS
from birthmark.features.creates import from_files
from birthmark.predictor import BUILT_IN, births
from birthmark.predictor.control.refresh import RecentBirths
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.models.images import Tallies
from birthmark.serving.models.loaded import load_model
from birthmark.training.control import refreshes
from birthmark.training.control.refreshes import Refreshes
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import KEPT_REFRESHES, Registry, RegistryError

KEYS, STEP = ("size=zero", "lock", "HotName"), 200
SERVED = {"serve": "forest", "point": "bounded"}


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    return lives.tables(pq.read_table(DAYS[0]).slice(0, 12_000).to_batches())


@pytest.fixture(scope="module")
def model(tables: tuple[pa.Table, pa.Table]) -> TrainedModel:
    predicates = [BUILT_IN[key] for key in KEYS]
    return TrainedModel(trees=8, rounds=4).train(*tables, predicates, ("rules", "forest"))


@pytest.fixture
def registry(tmp_path: Path, model: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setattr(refreshes, "LEAST_INTERVAL", 0.0)
    monkeypatch.setattr(refreshes, "MOST_SHARE", 1e9)
    found = Registry(tmp_path / "registry")
    found.publish(model.save, SERVED)
    return found


@pytest.fixture
def creates(tables: tuple[pa.Table, pa.Table]) -> pa.Table:
    files = births(tables[0])
    return from_files(files.append_column("history", pa.nulls(len(files), pa.binary())))


def made(registry: Registry) -> Refreshes:
    return Refreshes(registry, read_published(registry))


def pass_by(own: Refreshes, creates: pa.Table, model: TrainedModel, wrong: bool) -> None:
    """Let births pass whose outcomes are as probable as the scores, or for lock the opposite."""
    random = np.random.default_rng(1)
    scores = model.of_kind("forest").scores(creates, KEYS)
    for number in range(6):
        rows = (number * STEP + np.arange(STEP)) % len(creates)
        drawn = random.random(STEP)
        truths = {key: (drawn < scores[key][rows]).astype(float) for key in KEYS}
        if wrong:
            truths["lock"] = 1 - truths["lock"]
        born = np.full(STEP, number * SECOND)
        own.refresher.add(RecentBirths(creates.take(pa.array(rows)), born, truths))
        own.refresh()


def test_a_refresh_is_a_complete_version_of_the_base_and_answers(
    registry: Registry, creates: pa.Table, model: TrainedModel
) -> None:
    base = registry.published()
    pass_by(made(registry), creates, model, wrong=True)
    current = registry.published()
    assert current.startswith(f"{base}.")
    assert registry.base() == base
    assert registry.versions() == [base]
    assert current in registry.refreshes()
    registry.verify(current)
    manifest, before = registry.manifest(current), registry.manifest(base)
    assert list(manifest["refreshed"]) == ["lock"]
    assert manifest["refreshed"]["lock"] > 1
    assert manifest["parts"].keys() == before["parts"].keys()
    assert "hints.image" in manifest["parts"]
    loaded = TrainedModel.load(registry.directory(current))
    old, new = (each.of_kind("forest").scores(creates) for each in (model, loaded))
    assert (old["lock"] != new["lock"]).any()
    assert (old["size=zero"] == new["size=zero"]).all()
    rules = (each.of_kind("rules").scores(creates)["lock"] for each in (model, loaded))
    assert (next(rules) == next(rules)).all()


def test_the_image_of_a_refresh_answers_as_its_models(
    registry: Registry, creates: pa.Table, model: TrainedModel
) -> None:
    pass_by(made(registry), creates, model, wrong=True)
    served = load_model(registry, tallies=Tallies())
    assert served.version == registry.published()
    answers = served.answers(creates)
    models = TrainedModel.load(registry.directory(served.version)).of_kind("forest")
    assert answers["lock"].equals(models.predict(creates, "bounded", ["lock"])["lock"])


def test_without_evidence_the_base_version_answers_again(
    registry: Registry, creates: pa.Table, model: TrainedModel
) -> None:
    base, own = registry.published(), made(registry)
    pass_by(own, creates, model, wrong=True)
    assert registry.published() != base
    own = made(registry)  # another follower knows no evidence
    pass_by(own, creates, model, wrong=False)
    assert registry.published() == base


def test_a_rollback_goes_behind_all_refreshes_and_none_replaces_it(
    registry: Registry, creates: pa.Table, model: TrainedModel
) -> None:
    base, own = registry.published(), made(registry)
    pass_by(own, creates, model, wrong=True)
    assert len(registry.refreshes()) > 1
    assert registry.rollback() == base
    with pytest.raises(RegistryError, match="withdrawn"):
        pass_by(own, creates, model, wrong=True)
    assert registry.published() == base


def test_a_pinned_version_is_not_refreshed(
    registry: Registry, creates: pa.Table, model: TrainedModel
) -> None:
    base = registry.pin()
    with pytest.raises(RegistryError, match="pinned"):
        pass_by(made(registry), creates, model, wrong=True)
    assert (registry.published(), registry.refreshes()) == (base, [])


def test_a_version_published_meanwhile_is_not_refreshed_by_births_of_the_one_before(
    registry: Registry, creates: pa.Table, model: TrainedModel
) -> None:
    own = made(registry)
    newer = registry.publish(model.save, {**SERVED, "newer": True})
    with pytest.raises(RegistryError, match=r"expected .* published"):
        pass_by(own, creates, model, wrong=True)
    assert (registry.published(), registry.refreshes()) == (newer, [])


def test_a_refresh_of_a_newer_version_is_not_replaced_by_an_older_base(
    registry: Registry, model: TrainedModel
) -> None:
    own = made(registry)
    newer = registry.publish(model.save, {**SERVED, "newer": True})
    refresh = registry.refresh(model.save, registry.manifest(newer))
    own.refresh()  # without evidence
    assert registry.published() == refresh


def test_only_the_newest_refreshes_are_kept_and_go_with_their_version(
    registry: Registry, model: TrainedModel
) -> None:
    base = registry.published()
    manifest = registry.manifest(base)
    names = [registry.refresh(model.save, manifest) for _ in range(KEPT_REFRESHES + 3)]
    assert registry.refreshes() == names[-KEPT_REFRESHES:]
    assert [name.rpartition(".")[2][:5] for name in names[:2]] == ["00001", "00002"]
    for number in range(3):
        registry.publish(model.save, {**SERVED, "number": number})
    assert base in registry.prune(1)
    assert registry.refreshes() == []


def test_a_version_without_forests_is_refused(tmp_path: Path, model: TrainedModel) -> None:
    registry = Registry(tmp_path / "rules")
    registry.publish(model.save, {**SERVED, "serve": "rules"})
    with pytest.raises(ValueError, match="forests"):
        made(registry)


def test_it_waits_for_a_multiple_of_what_the_last_took(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, creates: pa.Table, model: TrainedModel
) -> None:
    monkeypatch.setattr(refreshes, "MOST_SHARE", 1e-9)
    base, own = registry.published(), made(registry)
    pass_by(own, creates, model, wrong=True)  # the first step has no candidate to judge
    assert registry.published() == base
