from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pytest

from birthmark.features import HISTORY_BYTES, from_requests
from birthmark.features.encoding import COLUMNS
from birthmark.predictor import parts
from birthmark.predictor.models.forest.forest import EDGE, sigmoid
from birthmark.predictor.models.forest.set import ForestModels

ROWS = 300
PARAMETERS = {"trees": 4, "rounds": 3, "seed": 7}


def creates() -> pa.Table:
    chance = np.random.default_rng(5)
    return from_requests(
        [
            {
                "name": b"%d.lock" % n if n % 2 else b"page%d.html" % n,
                "uid": n % 3,
                "client": f"10.0.0.{n // 2 % 2}",
                "history": chance.integers(0, 256, HISTORY_BYTES, dtype=np.uint8).tobytes(),
            }
            for n in range(ROWS)
        ]
    )


def labels() -> dict[str, pa.BooleanArray]:
    lock = [bool(n % 2) for n in range(ROWS)]
    late = [None if n >= 100 else n % 3 == 0 for n in range(ROWS)]
    return {"lock": pa.array(lock), "late": pa.array(late), "page": pa.array([not x for x in lock])}


@pytest.fixture(scope="module")
def models() -> ForestModels:
    models = ForestModels()
    models.train(creates(), labels(), **PARAMETERS)
    other = {"name:lock": labels()["lock"].slice(0, 100)}
    models.train(creates().slice(0, 100), other, **PARAMETERS)
    return models


def test_predicates_share_a_forest_unless_they_are_known_of_few_lives(models):
    assert models["lock"].forest_ is models["page"].forest_
    assert models["lock"].forest_ is not models["late"].forest_
    assert models["lock"].encoding_ is models["late"].encoding_
    assert models["lock"].encoding_ is not models["name:lock"].encoding_
    late, lock = (models[key].forest_ for key in ("late", "lock"))
    seen = [forest.rows[: forest.roots[1]].sum() for forest in (late, lock)]
    assert 100 < seen[0] < 250 < seen[1] < 600  # some of them are learned from again


def test_it_learns_the_training_rows(models):
    scores = models.scores(creates())
    assert list(scores) == list(models) == ["lock", "late", "page", "name:lock"]
    truth = np.arange(ROWS) % 2 == 1
    assert np.array_equal(scores["lock"] >= 0.5, truth)
    assert np.array_equal(scores["page"] >= 0.5, ~truth)


def test_scores_of_all_equal_those_of_each_alone(models):
    together = models.scores(creates(), ["late", "page"])
    assert list(together) == ["late", "page"]
    for key, scores in models.scores(creates()).items():
        alone = models[key].scores(models.columns(creates()))
        assert scores.tolist() == pytest.approx(alone.tolist())
    with pytest.raises(KeyError):
        models.scores(creates(), ["unheard of"])


def test_evidence_is_the_score_and_what_moved_it(models):
    asked = creates().slice(100, 5)
    scores = models.scores(asked)
    for row, found in enumerate(models.evidence(asked)):
        assert list(found) == list(models)
        for key, (score, evidence) in found.items():
            assert score == evidence["share"] == pytest.approx(scores[key][row])
            assert list(evidence) == ["share", "usual", "rows", "unseen", "because"]
            json.dumps(evidence)
    (lock, evidence) = models.evidence(asked)[1]["lock"]
    assert lock > 0.8
    assert evidence["usual"] == pytest.approx(0.5, abs=0.02)
    strongest = evidence["because"][0]
    assert strongest["column"] in ("suffix", "shape")
    assert strongest["text"] == "{n_true:,} of {n:,} files named #.lock".format(**strongest)
    assert strongest["by"] > 0
    values = {b["column"]: b["value"] for b in evidence["because"]}
    assert values.get("suffix", ".lock") == ".lock"


def test_the_parts_of_all_columns_add_up(models, monkeypatch):
    monkeypatch.setattr("birthmark.predictor.models.forest.evidence.REASONS", len(COLUMNS))
    for found in models.evidence(creates().slice(0, 3)):
        for score, evidence in found.values():
            parts_of = sum(reason["by"] for reason in evidence["because"])
            assert sigmoid(evidence["usual"] + parts_of) == pytest.approx(score, abs=EDGE)


def test_loaded_models_answer_as_saved(models, tmp_path):
    files = models.save(tmp_path)
    assert sorted(files) == sorted(path.name for path in tmp_path.iterdir())
    loaded = ForestModels.load(tmp_path, models, PARAMETERS, counts=False)
    scores = models.scores(creates())
    for key, again in loaded.scores(creates()).items():
        assert np.array_equal(scores[key], again)
    assert models.evidence(creates().slice(0, 2)) == loaded.evidence(creates().slice(0, 2))
    assert loaded["lock"].trees == models["lock"].trees
    (again := tmp_path / "again").mkdir()
    loaded.save(again)
    for name in files:
        assert (again / name).read_bytes() == (tmp_path / name).read_bytes()


def rewritten(path: Path, column: str, values: list[object]) -> None:
    with pa.OSFile(str(path), "rb") as source:
        table = ipc.open_file(source).read_all()
    place = table.column_names.index(column)
    others = table[column].to_pylist()[len(values) :]
    parts.write_table(
        path,
        table.set_column(
            place,
            table.schema.field(column),
            pa.array([*values, *others], table.schema.field(column).type),
        ),
    )


@pytest.mark.parametrize(
    ("part", "column", "values", "expected"),
    [
        ("nodes", "target", [0], "a child that does not come after it"),
        ("nodes", "target", [2**32 - 1], "a child that does not come after it"),
        ("nodes", "column", [60_000], "column 60000, which rows do not have"),
        ("nodes", "tree", [1], "the trees are not in order"),
        ("scores", "scores", [b"x"], "scores for 2 outputs"),
        ("codes", "code", [9], "the codes of"),
    ],
)
def test_a_damaged_part_is_named(models, tmp_path, part, column, values, expected):
    models.save(tmp_path)
    path = tmp_path / f"forest-{part}.arrow"
    rewritten(path, column, values)
    with pytest.raises(parts.DamagedModelError, match=expected) as error:
        ForestModels.load(tmp_path, models, PARAMETERS, counts=True)
    assert "forest-" in str(error.value)


def test_a_forest_over_other_columns_is_refused(models, tmp_path):
    models.save(tmp_path)
    path = tmp_path / "forest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "columns": ["length"]}))
    with pytest.raises(parts.DamagedModelError, match="columns used now"):
        ForestModels.load(tmp_path, models, PARAMETERS, counts=True)
    path.write_text(json.dumps({**content, "forests": content["forests"][1:]}))
    with pytest.raises(parts.DamagedModelError, match="one forest for each of lock"):
        ForestModels.load(tmp_path, models, PARAMETERS, counts=True)


def test_no_lives_make_a_model_that_says_no():
    models = ForestModels()
    models.train(creates().slice(0, 0), {"lock": pa.array([], pa.bool_())}, **PARAMETERS)
    assert models.scores(creates())["lock"].max() < EDGE
