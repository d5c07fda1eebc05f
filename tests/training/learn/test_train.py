from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.features import creates
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor import FILE_PREDICATES, KINDS
from birthmark.predictor.models.kinds import BEST
from birthmark.training.config import Settings
from birthmark.training.learn.train import Lives, TrainingError, train
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry, RegistryError

Make = Callable[..., Any]
Days = list[tuple[pa.Table, pa.Table]]


def test_the_manifest_says_what_was_learned_from(
    life: Make, files_of: Make, names_of: Make
) -> None:
    files = files_of(
        life(b"a.lock", 60, 1, max_size=0),
        life(b"b.lock", 120, None, end=122, max_size=0),
        life(b"c.html", 180, None, max_size=None),
    )
    settings = Settings(minfrac=0.9, serve="able", calibration=0)
    _, manifest = train(Lives(("monday",), files, names_of()), settings)
    assert manifest["serve"] == "able"
    assert manifest["held_out_errors"] == {}
    parameters = {"minfrac": 0.9, "mincount": 5, "prefix": True, "purity": 1.0}
    parameters |= {"calibration": 0.0, "bound": 0.01, "false_negative_bound": 0.01}
    parameters |= {"confidence": 0.95, "trees": 16}
    parameters |= {"rounds": 32, "seed": 0, "behind": 0.02}
    assert manifest["parameters"] == parameters
    trained = manifest["trained_on"]
    assert trained["datasets"] == ["monday"]
    assert trained["since"] == "2001-10-22T00:01:00+00:00"
    assert trained["until"] == "2001-10-22T00:03:00+00:00"
    assert (trained["files"], trained["names"]) == (3, 0)
    assert trained["labels"]["lifespan<=5"] == {"known": 2, "true": 1, "unknown": 1}
    assert trained["labels"]["name:lock"] == {"known": 0, "true": 0, "unknown": 0}


def test_a_period_without_a_birth_teaches_nothing(files_of: Make, names_of: Make) -> None:
    with pytest.raises(TrainingError, match="monday: expected files with a visible creation"):
        train(Lives(("monday",), files_of(), names_of()), Settings())


@pytest.fixture(scope="module")
def by_owner(life: Make, files_of: Make, names_of: Make) -> Lives:
    """Return files that stay empty depending on the owner, not on the name."""
    rows = [
        life(b"file", 9.0 * number, 1, uid=1 + number % 2, max_size=number % 2 * 10)
        for number in range(200)
    ]
    return Lives(("monday",), files_of(*rows), names_of())


EMPTY = [FILE_PREDICATES["size=zero"]]


def test_the_kind_serves_that_errs_least_on_files_held_out(by_owner: Lives) -> None:
    settings = Settings(trees=4, rounds=2, point="accurate")
    _, manifest = train(by_owner, settings, EMPTY)
    errors = manifest["held_out_errors"]
    assert errors["name"] >= 50
    assert errors["rules"] >= 50
    assert errors["able"] == errors["best"] == 0
    assert manifest["serve"] == "best"
    assert manifest["kinds"]["accurate"] == {"size=zero": dict.fromkeys(HISTORY_SCOPES, "able")}
    other = train(by_owner, settings.model_copy(update={"serve": "name"}), EMPTY)[1]
    assert other["serve"] == "name"
    assert other["kinds"] == manifest["kinds"]


def test_where_all_abstain_what_is_best_at_the_other_point_answers(by_owner: Lives) -> None:
    """No kind can keep the bound on 200 files; whose they are tells what they become."""
    settings = Settings(trees=4, rounds=2)
    _, abstaining = train(by_owner, settings, EMPTY)
    assert abstaining["held_out_errors"] == dict.fromkeys((*KINDS, BEST), 50)
    able = {"size=zero": dict.fromkeys(HISTORY_SCOPES, "able")}
    assert abstaining["kinds"] == {"accurate": able, "bounded": able}


def test_rules_serve_where_nothing_tells_which_kind_is_best(by_owner: Lives) -> None:
    _, unknown = train(by_owner, Settings(trees=4, rounds=2, calibration=0), EMPTY)
    assert unknown["held_out_errors"] == {}
    rules = {"size=zero": dict.fromkeys(HISTORY_SCOPES, "rules")}
    assert unknown["kinds"] == {"accurate": rules, "bounded": rules}


def test_lives_are_divided_by_the_time_of_their_birth(days: Days) -> None:
    lives = Lives(("monday",), *days[0])
    noon = datetime(2001, 10, 22, 0, 9, tzinfo=UTC)
    older, newer = lives.born(before=noon), lives.born(since=noon)
    assert len(older.files) == len(older.names) == 18
    assert len(newer.files) == len(newer.names) == 42
    assert older.datasets == ("monday",)


@pytest.mark.deep
def test_a_stored_model_predicts_as_it_did_before(days: Days, tmp_path: Path) -> None:
    lives = Lives(("monday",), *days[0])
    model, manifest = train(lives, Settings(trees=4, rounds=2))
    registry = Registry(tmp_path)
    with pytest.raises(RegistryError, match="expected a published version"):
        load(registry)
    version = registry.publish(model.save, manifest)
    stored = load(registry)
    assert stored.version == version
    assert stored.model.kinds == model.kinds
    known = creates.from_files(days[1][0])
    for kind in model.kinds:
        expected = model.predict(known, kind)
        assert all(
            answer.equals(expected[key])
            for key, answer in stored.model.predict(known, kind).items()
        )


@pytest.mark.deep
def test_a_damaged_model_is_not_loaded(days: Days, tmp_path: Path) -> None:
    model, manifest = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))
    registry = Registry(tmp_path)
    version = registry.publish(model.save, manifest)
    part = next(iter(registry.manifest(version)["parts"]))
    (registry.directory(version) / part).write_bytes(b"")
    with pytest.raises(RegistryError, match=part):
        load(registry)
