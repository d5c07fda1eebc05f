"""The best kinds answer as one set of models: each predicate by history scope."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.samples import DAYS
from birthmark.features.history_scope import (
    HISTORY_SCOPES,
    HistoryScope,
    history_scopes,
    mask_history,
)
from birthmark.predictor.image.format import Image, predict
from birthmark.predictor.labels import births
from birthmark.predictor.models.best import BestModels
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.kinds import BEST
from birthmark.predictor.predicates import BUILT_IN
from birthmark.predictor.trained import TrainedModel
from birthmark.training.evaluate.evaluation import evaluate
from birthmark_native import Answerer, Tally

ASKED = ("lock", "size=zero", "lifespan<=1", "name:lock")
KINDS = ("name", "able", "rules", "forest")
MIXED: dict[str, tuple[str, ...]] = {
    "lock": ("forest", "forest", "rules", "rules"),
    "size=zero": ("able", "able", "able", "able"),
    "lifespan<=1": ("forest", "able", "forest", "able"),
    "name:lock": ("forest", "forest", "name", "name"),
}
"""By predicate the kind for each of ``HISTORY_SCOPES``."""


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    """Return models of a part of a bundled day, with other kinds than were chosen."""
    operations = pq.read_table(DAYS[0]).slice(0, 15_000)
    files, names = lives.tables(operations.to_batches())
    predicates = [BUILT_IN[key] for key in ASKED]
    model = TrainedModel(trees=4, rounds=4, bound=0.05).train(files, names, predicates, KINDS)
    best = BestModels({kind: model.models[kind] for kind in KINDS})
    for key, kinds in MIXED.items():
        best.choose(key, dict(zip(HISTORY_SCOPES, kinds, strict=True)))
    best.points = {
        scope: {key: best.sets[kinds[place]].point(key, scope) for key, kinds in MIXED.items()}
        for place, scope in enumerate(HISTORY_SCOPES)
    }
    model.models[BEST] = best
    return model


@pytest.fixture(scope="module")
def creates(model: TrainedModel) -> pa.Table:
    """Return creates of the same day with different history scopes, and others for names.

    The scopes of names equal those of files, or are wider, or narrower.
    """
    operations = pq.read_table(DAYS[0]).slice(15_000, 4_000)
    files, _ = lives.tables(operations.to_batches())
    whole = model.creates("file", births(files).slice(0, 240))
    parts = []
    for place, scope in enumerate(HISTORY_SCOPES):
        own = mask_history(whole.slice(60 * place, 60), scope)
        of_names = [
            mask_history(whole, each)["history"].slice(60 * place, 60) for each in HISTORY_SCOPES
        ]
        shuffled = pa.chunked_array([of_names[row % 4].slice(row, 1).chunk(0) for row in range(60)])
        column = own.schema.get_field_index("name_history")
        parts.append(own.set_column(column, own.schema.field(column), shuffled))
    return pa.concat_tables(parts)


def test_creates_cover_every_scope_of_files_and_of_names(creates: pa.Table) -> None:
    of_names = creates.set_column(
        creates.schema.get_field_index("history"), "history", creates["name_history"]
    )
    pairs = set(
        zip(history_scopes(creates).tolist(), history_scopes(of_names).tolist(), strict=True)
    )
    assert {place for place, _ in pairs} == {place for _, place in pairs} == set(range(4))
    assert any(own != other for own, other in pairs)


def kinds_of(key: str, creates: pa.Table) -> list[str]:
    """Return the kind that is to answer in each row."""
    if key.startswith("name:"):
        history = creates["name_history"].combine_chunks().fill_null(b"")
        own = creates["history"].combine_chunks()
        place = creates.schema.get_field_index("history")
        coalesced = pa.array(
            [a or b for a, b in zip(history.to_pylist(), own.to_pylist(), strict=True)],
            creates.schema.field(place).type,
        )
        creates = creates.set_column(place, "history", coalesced)
    return [MIXED[key][place] for place in history_scopes(creates)]


def test_each_row_is_scored_by_the_kind_that_is_chosen(
    model: TrainedModel, creates: pa.Table
) -> None:
    found = model.scores(creates, BEST)
    by_kind = {kind: model.scores(creates, kind) for kind in KINDS}
    for key in ASKED:
        kinds = kinds_of(key, creates)
        assert set(kinds) == set(MIXED[key])
        expected = [by_kind[kind][key][row] for row, kind in enumerate(kinds)]
        assert found[key].tolist() == expected, key


@pytest.mark.parametrize("point", ["accurate", "bounded"])
def test_each_row_is_answered_as_the_kind_answers_that_is_chosen(
    model: TrainedModel, creates: pa.Table, point: str
) -> None:
    found = model.predict(creates, BEST, point)
    by_kind = {kind: model.predict(creates, kind, point) for kind in KINDS}
    for key in ASKED:
        kinds = kinds_of(key, creates)
        expected = [by_kind[kind][key][row].as_py() for row, kind in enumerate(kinds)]
        assert found[key].to_pylist() == expected, key
    assert any(0 < answers.true_count < len(creates) for answers in found.values())


def test_an_explanation_is_of_the_kind_that_answers(model: TrainedModel, creates: pa.Table) -> None:
    some = creates.take(list(range(0, 240, 8)))
    explained = model.explain(some, BEST, "bounded")
    by_kind = {kind: model.explain(some, kind, "bounded") for kind in KINDS}
    for key in ASKED:
        for row, kind in enumerate(kinds_of(key, some)):
            assert explained[row][key].kind == kind
            assert explained[row][key] == by_kind[kind][row][key]


@pytest.mark.parametrize("point", ["accurate", "bounded"])
def test_its_image_answers_as_it_does(model: TrainedModel, creates: pa.Table, point: str) -> None:
    image = Image(compile_models(model.of_kind(BEST), point))
    assert image.predicates == list(ASKED)
    found, expected = predict(image, creates), model.predict(creates, BEST, point)
    for key in ASKED:
        assert found[key].equals(expected[key]), key


def test_its_image_keeps_the_threshold_of_each_scope_of_a_kind_without_history(
    model: TrainedModel, creates: pa.Table
) -> None:
    best = copy(model.of_kind(BEST))
    thresholds = dict(zip(HISTORY_SCOPES, (0.0, None, 1.1, 0.0), strict=True))
    best.points = {
        scope: own | {"size=zero": replace(own["size=zero"], bounded=thresholds[scope])}
        for scope, own in best.points.items()
    }
    expected = [thresholds[HISTORY_SCOPES[place]] == 0.0 for place in history_scopes(creates)]
    found = predict(Image(compile_models(best, "bounded")), creates)
    assert found["size=zero"].to_pylist() == expected
    assert 0 < sum(expected) < len(expected)


@pytest.mark.parametrize("point", ["accurate", "bounded"])
def test_three_way_answers_of_its_image_equal_those_of_the_models(
    model: TrainedModel, creates: pa.Table, point: str
) -> None:
    image = compile_models(model.of_kind(BEST), assignments=model.assignments)
    answerer = Answerer(image, ("1", BEST, point), (Tally(), Tally()), three_way=True)
    (batch,) = creates.combine_chunks().to_batches()
    words, likely = answerer.three_way_answers(batch)
    expected = model.answer(creates, BEST, point)
    for place, key in enumerate(answerer.predicates):
        assert words[place].equals(expected[key].words), key
        assert likely[place].equals(expected[key].probabilities), key
    assert len({word.as_py() for own in words for word in own}) == 3, "yes, no and unsure"


def array(content: bytes) -> pa.UInt8Array:
    return pa.array(np.frombuffer(content, np.uint8))


def test_it_is_stored_with_its_kinds_and_points(
    model: TrainedModel, creates: pa.Table, tmp_path: Path
) -> None:
    model.save(tmp_path)
    loaded = TrainedModel.load(tmp_path)
    assert loaded.kinds == model.kinds == (*KINDS, BEST)
    best = loaded.models[BEST]
    assert isinstance(best, BestModels)
    assert best.choices == {
        key: dict(zip(HISTORY_SCOPES, own, strict=True)) for key, own in MIXED.items()
    }
    assert best.points == model.models[BEST].points
    assert loaded.explain(creates.slice(0, 9), BEST) == model.explain(creates.slice(0, 9), BEST)


def test_it_is_loaded_with_no_kinds_but_those_that_answer(
    model: TrainedModel, creates: pa.Table, tmp_path: Path
) -> None:
    some = BestModels({kind: model.models[kind] for kind in KINDS})
    for key in ASKED:
        some.choose(
            key, {scope: "able" if scope == "nothing" else "forest" for scope in HISTORY_SCOPES}
        )
    own = TrainedModel(**model.parameters)
    own.predicates, own.tallies, own.assignments = (
        model.predicates,
        model.tallies,
        model.assignments,
    )
    own.models = {**{kind: model.models[kind] for kind in KINDS}, BEST: some}
    own.histories = model.histories
    own.save(tmp_path)
    loaded = TrainedModel.load(tmp_path, only=BEST)
    assert loaded.kinds == ("able", "forest", BEST)
    assert loaded.predict(creates, BEST) == own.predict(creates, BEST)


def test_its_rules_are_those_of_the_kinds_that_answer_and_have_some(model: TrainedModel) -> None:
    rules = model.rules(BEST)
    assert set(rules["predicate"].to_pylist()) == set(ASKED)
    locks = [rule for rule in rules.to_pylist() if rule["predicate"] == "lock"]
    of_rules = [rule for rule in model.rules("rules").to_pylist() if rule["predicate"] == "lock"]
    assert locks == of_rules


def test_sums_of_scores_are_those_of_the_kind_that_answers(model: TrainedModel) -> None:
    best, forest = model.of_kind(BEST), model.of_kind("forest")
    sums: dict[HistoryScope, int | None] = {
        scope: best.least_sum("lock", 0.5, scope) for scope in HISTORY_SCOPES
    }
    own = forest.least_sum("lock", 0.5)
    assert own is not None
    assert sums == {"directory": own, "caller": own, "name": None, "nothing": None}


@pytest.fixture
def at_each_point(model: TrainedModel) -> TrainedModel:
    """Return the same models, with the forest for all predicates at the accurate point."""
    best, forest = (BestModels({kind: model.models[kind] for kind in KINDS}) for _ in range(2))
    for key, kinds in MIXED.items():
        best.choose(key, dict(zip(HISTORY_SCOPES, kinds, strict=True)))
        forest.choose(key, dict.fromkeys(HISTORY_SCOPES, "forest"))
    best.accurate = forest
    own = TrainedModel(**model.parameters)
    own.predicates, own.tallies, own.assignments = (
        model.predicates,
        model.tallies,
        model.assignments,
    )
    own.models = {**{kind: model.models[kind] for kind in KINDS}, BEST: best}
    own.histories, own.heat = model.histories, model.heat
    return own


def test_at_each_point_others_may_be_best(
    model: TrainedModel, at_each_point: TrainedModel, creates: pa.Table, tmp_path: Path
) -> None:
    some = creates.slice(100, 50)
    at_each_point.save(tmp_path)
    for found in (at_each_point, TrainedModel.load(tmp_path)):
        for point, kind in (("bounded", BEST), ("accurate", "forest")):
            assert found.predict(creates, BEST, point) == model.predict(creates, kind, point)
            assert found.explain(some, BEST, point) == model.explain(some, kind, point)
            own = model.of_kind(kind)
            answers = predict(Image(compile_models(found.of_kind(BEST), point)), creates)
            assert answers == predict(Image(compile_models(own, point)), creates)


def test_the_figures_are_of_the_models_that_answer_at_each_point(
    model: TrainedModel, at_each_point: TrainedModel
) -> None:
    operations = pq.read_table(DAYS[0]).slice(15_000, 4_000)
    files, names = lives.tables(operations.to_batches())
    rows = {
        (row["model"], row["point"], row["predicate"], row["subject"]): row
        for row in evaluate(at_each_point, files, names).to_pylist()
    }
    expected = {
        row["predicate"]: row
        for row in evaluate(model, files, names).to_pylist()
        if (row["model"], row["point"], row["subject"]) == (BEST, "bounded", "file")
    }
    for key in ("lock", "size=zero", "lifespan<=1"):
        accurate = rows[BEST, "accurate", key, "file"]
        assert accurate == rows["forest", "accurate", key, "file"] | {"model": BEST}
        assert rows[BEST, "bounded", key, "file"] == expected[key]
