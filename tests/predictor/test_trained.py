"""Tests also predictor/."""

from __future__ import annotations

import datetime
import json
import math
import shutil
import zipfile
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.ipc as ipc
import pytest

from birthmark.data.schema import FILES, NAMES
from birthmark.features import HISTORY, NamePieces, from_files, from_requests
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.models.kinds import BEST, KINDS, Kind
from birthmark.predictor.models.model_set import error_reduction
from birthmark.predictor.models.name.estimator import NameModel
from birthmark.predictor.parts import DamagedModelError
from birthmark.predictor.predicates import (
    DIRECTORY_PREDICATES,
    FILE_PREDICATES,
    HEAT_PREDICATES,
    NAME_PREDICATES,
    from_config,
)
from birthmark.predictor.trained import Answer, TrainedModel
from tests.builders.lives import UNKNOWN, life, table
from tests.predictor.unpacked import names_in, unpack

BORN = datetime.datetime(2001, 10, 22, 10, 0, tzinfo=datetime.UTC)
LATER = BORN + datetime.timedelta(hours=8)
EVERY = [*FILE_PREDICATES.values(), *HEAT_PREDICATES.values(), *NAME_PREDICATES.values()]


def of_campus(name: bytes, lifespan: float | None = None, **values: object) -> dict[str, object]:
    """Return a life that began at ``BORN``; ``lifespan`` in seconds, ``None``: still alive."""
    known = UNKNOWN | {"fh": b"handle of " + name, "uid": 501, "gid": 20}
    return life(name, 0.0, lifespan, end=8 * 3600.0, day=BORN) | known | values


LOCKS = [of_campus(b"%d.lock" % i, 1.0, max_size=0, mode=0o600) for i in range(20)]
PAGES = [of_campus(b"p%d.html" % i, None, max_size=5000, writes=3, mode=0o644) for i in range(10)]
LIVES = [*LOCKS, *PAGES]


def names_of(lives: list[dict[str, object]]) -> pa.Table:
    renamed = [
        {**row, "file_writes": row["writes"], "file_max_size": row["max_size"]} for row in lives
    ]
    return table(NAMES, renamed)


def trained(lives: list[dict[str, object]] = LIVES, **options: object) -> TrainedModel:
    return TrainedModel(calibration=0).train(table(FILES, lives), names_of(lives), **options)


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    return trained()


NEW = from_requests(
    [
        {"name": b"new.lock", "mode": 0o600, "uid": 501, "gid": 20},
        {"name": b"\xff.html", "mode": 0o644, "uid": 501, "gid": 20},
        {"name": b"core"},
    ]
)


def test_every_predicate_is_learned_by_every_kind(model):
    assert model.kinds == (*KINDS, BEST) == get_args(Kind)
    assert list(model.predicates) == [predicate.key for predicate in EVERY]
    for kind in model.kinds:
        answers = model.predict(NEW, kind)
        assert list(answers) == list(model.predicates)
        assert answers["lock"].to_pylist() == [True, False, kind != "name"]
        assert answers["name:lock"].to_pylist()[:2] == [True, False]
        assert answers["0<size<=16k"].to_pylist()[:2] == [False, True]


def test_only_files_whose_birth_was_seen_are_learned():
    strangers = [
        of_campus(b"old.%d" % i, 1.0, max_size=0, **other)
        for i in range(10)
        for other in ({"birth_seen": False, "born": None}, {"kind": "directory"}, {"kind": None})
    ]
    model, same = trained([*LIVES, *strangers]), trained()
    assert model.tallies == same.tallies
    assert model.models["name"]["lock"].counts_.equals(same.models["name"]["lock"].counts_)


def test_rows_of_unknown_label_are_left_out_and_counted():
    unknown = [
        of_campus(b"x%d.lock" % i, None, max_size=None, observed_until=BORN) for i in range(4)
    ]
    model = trained([*LIVES, *unknown])
    assert model.tallies["lifespan<=5"] == {"known": 30, "true": 20, "unknown": 4}
    assert model.tallies["size=zero"] == {"known": 30, "true": 20, "unknown": 4}
    assert model.tallies["write-only"] == {"known": 34, "true": 10, "unknown": 0}
    before = trained().models["name"]["lifespan<=5"].counts_
    assert model.models["name"]["lifespan<=5"].counts_.equals(before)


def test_the_evidence_of_names_is_the_strongest_component(model):
    lock, page, core = model.explain(NEW, "name")
    any_rule = math.ulp(0.0)
    rule = {"component": "lock$", "n_m": 20, "n_a": 20}
    assert lock["lock"] == Answer(True, rule, 1.0, any_rule, None, "name")
    rule = {"component": "html$", "n_m": 10, "n_a": 10}
    assert page["0<size<=16k"] == Answer(True, rule, 1.0, any_rule, None, "name")
    none = {"component": None, "n_m": None, "n_a": None}
    assert core["lock"] == Answer(False, none, 0.0, any_rule, None, "name")


def test_the_evidence_of_trees_is_the_way_to_the_leaf(model):
    lock, _, core = model.explain(NEW, "able")
    step = {"attribute": "last", "value": "lock"}
    expected = {"path": [step], "default": False, "n_true": 20, "n": 20}
    assert lock["lock"] == Answer(True, expected, 1.0, math.nextafter(0.5, 1), None, "able")
    assert core["lock"].evidence == {"path": [], "default": True, "n_true": 20, "n": 30}


def test_the_rules_of_names_are_listed_by_how_many_files_each_is_the_strongest_of(model):
    rules = model.rules("name").to_pylist()
    locks = [rule for rule in rules if rule["predicate"] == "lock"]
    assert locks[0] == {
        "predicate": "lock",
        "rule": "lock$",
        "yes": True,
        "decides": 20.0,
        "n_m": 20.0,
        "n_a": 20.0,
    }
    assert rules == sorted(rules, key=lambda rule: -rule["decides"])
    assert sum(rule["decides"] for rule in locks) == 20


def test_rules_are_ordered_by_error_reduction(model):
    lock, tally = model.rules("able").to_pylist()[0], {"known": 100, "true": 20}
    rule = {**lock, "yes": True, "decides": 10.0, "n_m": 9.0, "n_a": 10.0}
    assert error_reduction(rule, tally) == pytest.approx(
        8
    )  # of ten, nine are right, and one would be
    assert error_reduction({**rule, "yes": False}, tally) == 0  # a guess says no, too
    assert error_reduction({**rule, "yes": False}, {"known": 100, "true": 80}) == pytest.approx(-8)
    telling = model.error_reducing_rules("name")
    every = [error_reduction(each, model.tallies[each["predicate"]]) for each in telling]
    assert every == sorted(every, reverse=True)
    assert min(every) > 0
    assert ("lifespan>5", "html$") in {(each["predicate"], each["rule"]) for each in telling}
    order = model.by_error_reduction(model.rules("name"))
    assert order[: len(telling)] == telling
    assert len(order) == model.rules("name").num_rows


def test_the_rules_of_trees_are_the_ways_to_their_leaves(model):
    rules = [rule for rule in model.rules("able").to_pylist() if rule["predicate"] == "lock"]
    assert [tuple(rule.values()) for rule in rules] == [
        ("lock", "last lock", True, 20.0, 20.0, 20.0),
        ("lock", "last html", False, 10.0, 0.0, 10.0),
    ]


def test_a_forest_lists_no_rules_and_refers_to_explain(model):
    with pytest.raises(ValueError, match="see birthmark predict --explain"):
        trained(kinds=["forest"]).rules("forest")


def test_trees_see_what_name_pieces_makes_of_a_create(model):
    assert model.models["able"].columns(NEW).equals(NamePieces().fit_transform(NEW))


def test_bytes_that_are_no_text_are_escaped_in_the_evidence():
    lives = [of_campus(b"%d.\xff\n" % i, 1.0, max_size=0) for i in range(9)] + PAGES
    model = trained(lives, predicates=[FILE_PREDICATES["size=zero"]])
    create = from_requests([{"name": b"a.\xff\n"}])
    (by_name,), (by_tree,) = model.explain(create, "name"), model.explain(create, "able")
    assert by_name["size=zero"].evidence["component"] == r"\xff\n$"
    assert by_tree["size=zero"].evidence["path"] == [{"attribute": "last", "value": r"\xff\n"}]
    json.dumps([by_name["size=zero"].evidence, by_tree["size=zero"].evidence])


@pytest.mark.parametrize("kind", ["name", "able"])
def test_an_explanation_gives_the_answer_that_the_prediction_gives(model, kind):
    creates = pa.concat_tables([NEW, from_files(table(FILES, LIVES))])
    predicted = model.predict(creates, kind)
    explained = model.explain(creates, kind)
    for key, answers in predicted.items():
        assert [row[key].answer for row in explained] == answers.to_pylist()


def test_a_loaded_model_answers_and_explains_as_the_saved_one(model, tmp_path):
    files = model.save(tmp_path)
    assert sorted(files) == sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    )
    loaded = TrainedModel.load(tmp_path)
    assert loaded.kinds == model.kinds
    assert loaded.predicates == model.predicates
    assert loaded.tallies == model.tallies
    assert loaded.parameters == model.parameters
    for kind in model.kinds:
        assert loaded.predict(NEW, kind) == model.predict(NEW, kind)
        assert loaded.explain(NEW, kind) == model.explain(NEW, kind)


def test_later_births_have_their_history_and_the_model_does_not_change(
    tmp_path,
):
    trained().save(tmp_path)
    model = TrainedModel.load(tmp_path)
    tomorrow = [of_campus(b"%d.lock" % i, 1.0, fh=b"%d" % i, dir_fh=b"d") for i in range(3)]
    first, again = (
        model.creates("file", table(FILES, tomorrow))["history"].to_pylist() for _ in range(2)
    )
    assert first == again
    births = [name for name, _ in HISTORY].index("name.births")
    assert [first[i][births] for i in range(3)] == [2, 2, 2]  # one each, yesterday
    fresh = TrainedModel(calibration=0).train(table(FILES, []), names_of([]))
    unseen = fresh.creates("file", table(FILES, tomorrow))["history"].to_pylist()
    assert [row[births] for row in unseen] == [1, 1, 1]  # none


def test_a_loaded_model_goes_on_learning_and_one_without_counts_does_not(model, tmp_path):
    model.save(tmp_path)
    known, labels = from_files(table(FILES, PAGES)), [True] * len(PAGES)
    whole = NameModel.of(TrainedModel.load(tmp_path).models["name"]["lock"])
    whole.forget(known, [False] * len(PAGES))
    assert whole.partial_fit(known, labels).predict(NEW).tolist() == [True, True, False]
    served = TrainedModel.load(tmp_path, counts=False)
    assert served.explain(NEW, "name") == model.explain(NEW, "name")
    with pytest.raises(ValueError, match="without its counts"):
        NameModel.of(served.models["name"]["lock"]).partial_fit(known, labels)


def test_the_models_of_one_kind_are_loaded_alone(model, tmp_path):
    model.save(tmp_path)
    alone = TrainedModel.load(tmp_path, only="able")
    assert alone.kinds == ("able",)
    assert alone.explain(NEW, "able") == model.explain(NEW, "able")


def test_equal_models_are_equal_bytes(model, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    names = model.save(tmp_path / "one")
    TrainedModel.load(tmp_path / "one").save(tmp_path / "two")
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_predicates_of_the_configuration_are_saved_with_the_model(tmp_path):
    config = {"name": "size>4k", "subject": "name", "size_above": 4096}
    trained(predicates=[from_config(config), FILE_PREDICATES["lock"]]).save(tmp_path)
    loaded = TrainedModel.load(tmp_path)
    assert list(loaded.predicates) == ["lock", "name:size>4k"]
    assert loaded.predict(NEW, "name")["name:size>4k"].to_pylist() == [False, True, False]
    answers = loaded.predicates["name:size>4k"].evaluate(names_of(LIVES))
    assert answers.true_count == len(PAGES)


def test_one_kind_may_be_trained_alone(tmp_path):
    model = trained(kinds=["able"])
    model.save(tmp_path)
    assert TrainedModel.load(tmp_path).kinds == ("able",)
    with pytest.raises(ValueError, match="no models of kind 'name': there are able"):
        model.predict(NEW, "name")
    with pytest.raises(ValueError, match="no kind of model is called 'oracle'"):
        trained(kinds=["oracle"])


def test_a_day_without_births_makes_a_model_that_says_no(tmp_path):
    trained([]).save(tmp_path)
    for kind in ("name", "able"):
        answers = TrainedModel.load(tmp_path).predict(NEW, kind)
        assert not any(column.true_count for column in answers.values())


def test_two_predicates_of_one_name_are_refused():
    config = from_config({"name": "big", "size_above": 1})
    with pytest.raises(ValueError, match="two predicates about the same subject"):
        trained(predicates=[config, config])


PARTS = ["model.json", "name-rules.arrow", "name-counts.arrow", "able.arrow"]
PARTS += ["rules-rules.arrow", "rules-counts.arrow", "forest.json", "forest-nodes.arrow"]
PARTS += ["forest-scores.arrow", "forest-codes.arrow", "forest-support.arrow"]
PARTS += ["history-file.arrow", "history-name.arrow", "heat-rates.arrow", "heat-directories.arrow"]
PARTS += ["heat-hot-directories.arrow", "heat-hot-writes.arrow"]
PARTS += [f"hints/{part}" for part in PARTS if part.startswith(("name", "able", "rules", "forest"))]
STORED = ["hints.image", "model.image", "model.json", "models.zip"]


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory) -> Path:
    """Return the directory of a model; loading checks each part."""
    directory = tmp_path_factory.mktemp("saved")
    assert sorted(model.save(directory)) == STORED
    assert sorted([*names_in(directory), "model.json"]) == sorted(PARTS)
    return directory


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("damage", ["missing", "cut", "empty", "garbage"])
def test_a_damaged_part_is_named(saved, tmp_path, part, damage):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    path: Path = unpack(tmp_path) / part
    whole = path.read_bytes()
    path.unlink()
    damaged = {"cut": whole[: len(whole) // 2], "empty": b"", "garbage": b"\xff" * len(whole)}
    if damage in damaged:
        path.write_bytes(damaged[damage])
    with pytest.raises(DamagedModelError, match=part):
        TrainedModel.load(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "compressed", "a part is missing"])
def test_a_damaged_archive_is_named(saved, tmp_path, damage):
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "models.zip"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    whole = path.read_bytes()
    damaged = {"cut": whole[: len(whole) // 2], "empty": b"", "garbage": b"\xff" * len(whole)}
    if damage in damaged:
        path.write_bytes(damaged[damage])
    else:
        kind = zipfile.ZIP_DEFLATED if damage == "compressed" else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name in list(parts)[1:]:
                archive.writestr(name, parts[name])
    with pytest.raises(DamagedModelError, match=r"models\.zip"):
        TrainedModel.load(tmp_path)


def rewrite(path: Path, column: str, change) -> None:
    with pa.OSFile(str(path)) as source:
        table = ipc.open_file(source).read_all()
    place = table.schema.get_field_index(column)
    values = change(table[column].to_pylist())
    array = pa.array(values, table.schema.field(place).type)
    with ipc.new_file(str(path), table.schema) as file:
        file.write_table(table.set_column(place, table.schema.field(place), array))


@pytest.mark.parametrize(
    ("part", "column", "change", "message"),
    [
        ("name-rules.arrow", "n_m", lambda v: [10**6] * len(v), "0 < n_m <= n_a"),
        ("name-rules.arrow", "component", lambda v: [None] * len(v), "no nulls in column"),
        ("name-rules.arrow", "component", lambda v: [b"a.b"] * len(v), "rule 0 is not a name comp"),
        ("name-counts.arrow", "lock n_m", lambda v: [10**6] * len(v), "n_m <= n_a for 'lock'"),
        ("able.arrow", "parent", lambda v: [7] * len(v), "a tree for 'lock': the root is missing"),
        ("able.arrow", "parent", lambda v: [min(p, 0) for p in v][:1] + [9] * (len(v) - 1), "come"),
        ("able.arrow", "n_true", lambda v: [10**6] * len(v), "n_true is not between 0 and n"),
        ("able.arrow", "attribute", lambda v: ["owner"] * len(v), "on an unknown attribute"),
        ("able.arrow", "attribute", lambda v: [None] * len(v), "a leaf has children"),
        ("able.arrow", "text", lambda v: [b""] * len(v), "not in order of parent and value"),
        ("able.arrow", "predicate", lambda v: ["lock"] * len(v), "a tree for 'lock'"),
    ],
)
def test_a_part_that_makes_no_sense_is_named(model, tmp_path, part, column, change, message):
    model.save(tmp_path)
    rewrite(unpack(tmp_path) / part, column, change)
    with pytest.raises(DamagedModelError, match=f"{part}: expected .*{message}"):
        TrainedModel.load(tmp_path)


def chosen(choices: dict[str, dict[str, str]]) -> dict[str, object]:
    return {point: {"choices": choices, "points": {}} for point in ("accurate", "bounded")}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "4"),
        ("points", {}),
        ("points", {"name": {"nothing": {"lock": {"accurate": 7}}}, "able": {}}),
        ("kinds", ["oracle"]),
        ("predicates", [{"key": "immortal", "config": None}]),
        ("predicates", [{"key": "x", "config": {"name": "x"}}]),
        ("parameters", {"maxfrac": 1}),
        ("tallies", {}),
        ("best", []),
        ("best", {"bounded": {"choices": {}, "points": {}}}),
        ("best", chosen({"lock": {"nothing": "rules"}})),
        ("best", chosen({"lock": dict.fromkeys(HISTORY_SCOPES, "oracle")})),
        ("best_hints", chosen({"lock": dict.fromkeys(HISTORY_SCOPES, "rules")})),
    ],
)
def test_a_description_of_something_else_is_refused(model, tmp_path, key, value):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DamagedModelError, match=r"model\.json: expected"):
        TrainedModel.load(tmp_path)


def test_a_model_that_was_stored_before_the_best_kinds_were_chosen_has_the_others(model, tmp_path):
    model.save(tmp_path)
    path = tmp_path / "model.json"
    content = json.loads(path.read_text())
    del content["best"], content["best_hints"]
    path.write_text(json.dumps(content))
    loaded = TrainedModel.load(tmp_path)
    assert loaded.kinds == tuple(KINDS)
    assert loaded.predict(NEW, "forest") == model.predict(NEW, "forest")
    with pytest.raises(ValueError, match="no models of kind 'best'"):
        loaded.predict(NEW, BEST)


def test_hot_directories_are_learned_on_request():
    names = (b"cache", b"src")
    inside = [
        row | {"server": "s", "dir_fh": b"d%d%s" % (n, name), "dir_name": name}
        for n in range(6)
        for name, row in zip(names, (LOCKS[n], PAGES[n]), strict=True)
    ]
    hot_dir = DIRECTORY_PREDICATES["HotDir"]
    model = trained(inside, predicates=[FILE_PREDICATES["lock"], hot_dir])
    assert model.tallies["directory:HotDir"] == {"known": 12, "true": 6, "unknown": 0}
    new = from_requests([{"name": b"cache"}, {"name": b"src"}])
    assert model.predict(new, "name")["directory:HotDir"].to_pylist() == [True, False]


def test_heat_is_learned_and_saved_with_the_model(model, tmp_path):
    assert model.heat.rates.predict(NEW)["evidence"].to_pylist()[:2] == [20, 10]
    model.save(tmp_path)
    assert {"heat-rates.arrow", "heat-directories.arrow"} <= set(names_in(tmp_path))
    loaded = TrainedModel.load(tmp_path)
    assert loaded.heat.rates.predict(NEW).equals(model.heat.rates.predict(NEW))
    (unpack(tmp_path) / "heat-rates.arrow").unlink()
    with pytest.raises(DamagedModelError, match="heat-rates"):
        TrainedModel.load(tmp_path)
