from __future__ import annotations

import datetime
import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pytest

from birthmark.data.schema import NAMES
from birthmark.features import from_files, from_requests
from birthmark.predictor import (
    FILE_PREDICATES,
    DamagedModelError,
    OperatingPoints,
    RuleModel,
    TrainedModel,
)
from birthmark.predictor.models.model_set import RULES
from birthmark.predictor.models.rules.set import RuleModels
from tests.builders.lives import files_of, life
from tests.predictor.unpacked import unpack

BORN = datetime.datetime(2001, 10, 22, 10, 0, tzinfo=datetime.UTC)
PREDICATES = [FILE_PREDICATES[key] for key in ("lock", "size=zero", "0<size<=16k", "lifespan<=1")]


def lives() -> pa.Table:
    """Locks, pages and others, some of which are not what their names say."""
    kinds = itertools.cycle(
        [(b"lock%d.lock", 0.5, 0), (b"page%d.html", 50.0, 900), (b"x%d.html.lock", 0.5, 700)]
    )
    rows = [
        life(name % i, i, lifespan, max_size=size, writes=size)
        for i, (name, lifespan, size) in zip(range(600), kinds, strict=False)
    ]
    rows += [life(b"home.html", 600 + i, 50.0, max_size=0) for i in range(30)]
    return files_of(*rows)


LIVES = lives()
NEW = from_requests(
    [
        {"name": n}
        for n in (b"lock3999.lock", b"n.html", b"home.html", b"n.html.lock", b"\xff", b"a.b.c")
    ]
)


def trained() -> TrainedModel:
    none = NAMES.empty_table()
    return TrainedModel(calibration=0).train(LIVES, none, predicates=PREDICATES, kinds=["rules"])


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    return trained()


def test_every_model_is_that_of_its_own_predicate():
    models, creates = RuleModels(), from_files(LIVES)
    labels = {predicate.key: predicate.evaluate(LIVES) for predicate in PREDICATES}
    models.train(RuleModels.columns(creates), labels, prefix=True)
    for key, answers in labels.items():
        alone = RuleModel().fit(creates.select(["name"]), answers)
        assert models[key].rules_.equals(alone.rules_)
        assert models[key].counts_.equals(alone.counts_)


def test_the_answers_are_those_that_the_names_have_taught(model):
    answers = model.predict(NEW, "rules")
    assert answers["size=zero"].to_pylist()[:4] == [True, False, True, False]
    assert answers["lifespan<=1"].to_pylist()[:4] == [True, False, False, True]


def test_condensing_changes_no_answer_about_names_that_were_learned_or_given():
    models, creates = RuleModels(), from_files(LIVES)
    even = pa.array(np.arange(len(LIVES)) % 2 == 0)
    labels = {p.key: p.evaluate(LIVES.filter(even)) for p in PREDICATES}
    models.train(models.columns(creates.filter(even)), labels, prefix=True)
    models.points = {key: OperatingPoints(0.5, 0.9) for key in labels}
    before = {point: models.predict(creates, point) for point in ("accurate", "bounded")}
    rules = {key: len(model.rules_) for key, model in models.items()}
    models.condense(creates, ["lock", "size=zero"])
    for point, answers in before.items():
        assert models.predict(creates, point) == answers
    fewer = [len(model.rules_) < rules[key] for key, model in models.items()]
    assert fewer == [True, True, False, False]


def test_the_rules_are_listed_by_how_many_files_each_decides(model):
    models = model.models["rules"]
    rules = models.rules("accurate")
    assert rules.schema == RULES
    decides = rules["decides"].to_pylist()
    assert decides == sorted(decides, reverse=True)
    assert decides[0] > 0
    for key, own in models.items():
        listed = {r["rule"] for r in rules.to_pylist() if r["predicate"] == key}
        assert listed <= {row["component"] for row in models.rows[key]}
        assert listed or not len(own.rules_)
    # of 630 files 400 are short-lived: it takes two rules to say which are not
    short = [r for r in rules.to_pylist() if r["predicate"] == "lifespan<=1"]
    assert [(r["rule"], r["yes"], r["decides"]) for r in short] == [
        (".*", True, 400.0),
        ("html$", False, 230.0),
    ]


def test_a_predicate_that_abstains_lists_no_rules():
    models = trained().models["rules"]
    models.points["lock"] = OperatingPoints(0.5, None)
    assert "lock" not in models.rules("bounded")["predicate"].to_pylist()
    assert "lock" in models.rules("accurate")["predicate"].to_pylist()


def test_the_evidence_has_the_score_and_the_contradicting_rules(model):
    creates = pa.concat_tables([NEW, from_files(LIVES).slice(0, 40)])
    evidence, scores = model.models["rules"].evidence(creates), model.scores(creates, "rules")
    for key, column in scores.items():
        assert [row[key][0] for row in evidence] == column.tolist()
    for row in evidence:
        for score, why in row.values():
            assert all(rule["upper"] < why["lower"] for rule in why["against"])
            assert (
                score == why["lower"]
                or any(r["upper"] == score for r in why["against"])
                or (why["component"] is None and score == 0)
            )
    score, why = evidence[2]["size=zero"]
    assert why["component"] in (r"^home\.html$", r"^home", r"^home\.")
    assert (why["n_m"], why["n_a"]) == (30, 30)
    assert score == why["lower"]


def test_evidence_has_the_rule_that_contradicts_the_deciding_one():
    models, creates = RuleModels(), from_files(LIVES)
    labels = {"size=zero": FILE_PREDICATES["size=zero"].evaluate(LIVES)}
    models.train(models.columns(creates), labels, prefix=True)
    ((score, why),) = models.evidence(from_requests([{"name": b"home.html"}]))[0].values()
    (against,) = (rule for rule in why["against"] if rule["component"] == "html$")
    assert (against["n_m"], against["n_a"]) == (30, 230)
    assert against["upper"] < 0.5 < score


def test_an_explanation_gives_the_answer_that_the_prediction_gives(model):
    creates = pa.concat_tables([NEW, from_files(LIVES)])
    for point in ("accurate", "bounded"):
        explained = model.explain(creates, "rules", point)
        for key, answers in model.predict(creates, "rules", point).items():
            assert [row[key].answer for row in explained] == answers.to_pylist()


def test_a_loaded_model_answers_explains_and_lists_as_the_saved_one(model, tmp_path):
    files = model.save(tmp_path)
    assert sorted(files) == ["model.image", "model.json", "models.zip"]
    loaded = TrainedModel.load(tmp_path)
    for point in ("accurate", "bounded"):
        assert loaded.predict(NEW, "rules", point) == model.predict(NEW, "rules", point)
        assert loaded.explain(NEW, "rules", point) == model.explain(NEW, "rules", point)
        assert loaded.models["rules"].rules(point).equals(model.models["rules"].rules(point))
    served = TrainedModel.load(tmp_path, counts=False)
    assert served.predict(NEW, "rules") == model.predict(NEW, "rules")
    with pytest.raises(ValueError, match="without its counts"):
        served.models["rules"].rules("accurate")


def rewrite(path: Path, column: str, value: object) -> None:
    with pa.OSFile(str(path)) as source:
        table = ipc.open_file(source).read_all()
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    with ipc.new_file(str(path), table.schema) as file:
        file.write_table(table.set_column(place, field, pa.array([value] * len(table), field.type)))


@pytest.mark.parametrize(
    ("part", "column", "value", "message"),
    [
        ("rules-rules.arrow", "lower", 1.5, "0 <= lower <= upper <= 1"),
        ("rules-rules.arrow", "upper", -0.5, "0 <= lower <= upper <= 1"),
        ("rules-rules.arrow", "lower", float("nan"), "0 <= lower <= upper <= 1"),
        ("rules-rules.arrow", "n_m", 1e9, "0 <= n_m <= n_a"),
        ("rules-rules.arrow", "component", b"a*", "rule 0 is not a name component"),
        ("rules-rules.arrow", "component", None, "no nulls in column"),
        ("rules-counts.arrow", "lock n_m", 1e9, "n_m <= n_a for 'lock'"),
    ],
)
def test_a_part_that_makes_no_sense_is_named(model, tmp_path, part, column, value, message):
    model.save(tmp_path)
    rewrite(unpack(tmp_path) / part, column, value)
    with pytest.raises(DamagedModelError, match=f"{part}: expected .*{message}"):
        TrainedModel.load(tmp_path)
