from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.features import CREATES as EVERY_COLUMN
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.allocation.verdicts import hint_image
from birthmark.predictor.answers.operating_points import NEVER, OperatingPoints
from birthmark.predictor.image import dictionary as image_dictionary
from birthmark.predictor.image.cuts import plain_predicate
from birthmark.predictor.image.forest import ByteTree, Feature, ForestSection, Group
from birthmark.predictor.image.format import (
    Scoring,
    always,
    at_point,
    compile_image,
    plain_image,
    predict,
)
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark.predictor.image.steps import STEPS
from birthmark.predictor.image.trees import ImageTree, TreesSection
from birthmark.predictor.labels import births
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.predicate import Subject
from birthmark.predictor.trained import TrainedModel
from birthmark_native import BM_PREDICATE_ENTRY, Answerer, Image, Tally
from tests.layout_hint.laid import STEPS_AT, declared, sealed
from tests.layout_hint.made import CREATES, made, rust_answers, some_creates

POINTS = ("accurate", "bounded")


def table(*names: bytes | None) -> pa.Table:
    return pa.table({"name": pa.array(names, pa.binary())})


def rules_image(*rules: ImageRule, keys: tuple[str, ...] = ("a", "b")) -> bytes:
    return plain_image(keys, [RulesSection(rules)])


@pytest.mark.parametrize("seed", range(12))
def test_an_image_answers_as_the_model_that_it_was_made_of(seed):
    model = made(seed)
    creates = some_creates(random.Random(-seed), 150)
    answers = rust_answers(model.image, pa.Table.from_pylist(creates, schema=CREATES))
    assert answers == model.answers(creates)


def test_rows_beyond_one_block_and_one_thread_keep_their_order():
    model = made(3, ("rules",), n=70)
    creates = some_creates(random.Random(1), 300)
    rows = pa.Table.from_pylist(creates, schema=CREATES)
    once = model.answers(creates)
    many = pa.concat_tables([rows] * 150)
    assert rust_answers(model.image, many) == once * 150
    assert rust_answers(model.image, many.slice(41, 1000)) == (once * 5)[41:1041]
    assert rust_answers(model.image, rows.slice(0, 0)) == []


def test_of_the_places_in_order_the_first_with_a_verdict_decides_and_a_no_beats_a_yes():
    rules = [
        ImageRule("a", "last", b"c", least=1),
        ImageRule("a", "middle", b"no", most=0),
        ImageRule("a", "middle", b"yes", least=1),
        ImageRule("a", "whole", b"x.no.c", least=1),
    ]
    section = RulesSection(rules, ("whole", "middle", "prefix", "last", "first", "any"))
    names = table(b"x.c", b"y.no.c", b"y.yes", b"y.yes.no.d", b"x.no.c", b"y.yes.d", None)
    answers = rust_answers(plain_image(["a"], [section]), names)
    expected = [True, False, False, False, True, True, False]
    assert answers == [{"a"} if yes else set() for yes in expected]


def test_equal_models_make_equal_bytes():
    rules = list(made(5, ("rules",)).sections[0].section.rules)
    keys = sorted({rule.predicate for rule in rules})
    assert len(rules) > 10
    shuffled = random.Random(0).sample(rules, len(rules))
    assert rules_image(*rules, keys=keys) == rules_image(*shuffled, keys=keys)
    assert made(6).image == made(6).image


def test_nodes_that_answer_as_their_parent_are_left_out():
    values = [pa.array([b"a", b"b"])] + [pa.array([], pa.binary())] * 2
    values += [pa.array([1, 2])] + [pa.array([], pa.int64())] * 2
    parent, split, code = [-1, 0, 0, 1, 1], [0, 3, -1, -1, -1], [-1, 0, 1, 0, 1]
    for answer, left in [
        ([0] * 5, 1),
        ([0, 0, 1, 0, 0], 2),
        ([0, 0, 0, 0, 1], 3),
        ([0, 1, 0, 1, 0], 3),
    ]:
        arrays = [np.array(each) for each in (parent, split, code)]
        tree = ImageTree("a", *arrays, np.array(answer, np.uint8), values)
        assert len(tree.pruned().parent) == left
        creates = {"name": pa.array([b"a", b"a", b"a", b"b", b"c"]), "mode": [1, 2, 3, 1, 1]}
        creates |= {"uid": pa.nulls(5), "gid": pa.nulls(5)}
        schema = pa.schema([CREATES.field(c) for c in creates])
        found = predict(
            Image(plain_image(["a"], [TreesSection([tree])])), pa.table(creates, schema)
        )
        assert found["a"].to_pylist() == [answer[n] == 1 for n in (3, 4, 1, 2, 0)]


def test_every_flipped_bit_is_refused():
    whole = min((made(seed, n=1).image for seed in range(30)), key=len)
    assert len(whole) < 4000
    Image(whole)
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"image|truncated|checksum"):
            Image(bytes(flipped))


def test_faults_of_an_image_are_reported():
    whole = rules_image(ImageRule("a", "whole", b"x", least=1))
    newer, older = (whole[:8] + struct.pack("<I", n) + whole[12:] for n in (5, 3))
    for content, message in [
        (newer, "newer version than this reader knows \\(4\\)"),
        (older, "older version than this reader knows \\(4\\)"),
        (whole[:-1], "truncated"),
        (whole[:20], "truncated"),
        (b"", "truncated"),
        (whole + b"\0", "more bytes than the image has"),
        (whole[:-1] + bytes([whole[-1] ^ 1]), "checksum does not match"),
        (b"GIF89a" + whole[6:], "not a compiled image"),
    ]:
        with pytest.raises(ValueError, match=message):
            Image(content)


def test_a_missing_column_and_one_of_another_type_are_named():
    trees, forest = made(1, ("trees",)), made(2, ("forest",), n=7)
    names = table(b"x")
    with pytest.raises(ValueError, match='column "mode" is missing'):
        predict(Image(trees.image), names)
    with pytest.raises(ValueError, match='column "name" is missing'):
        predict(Image(rules_image()), pa.table({"names": [b"x"]}))
    with pytest.raises(ValueError, match='column "name" is Utf8, expected Binary'):
        predict(Image(rules_image()), pa.table({"name": ["x"]}))
    with pytest.raises(ValueError, match=r'column "\w+" is missing'):
        predict(Image(forest.image), names)
    rules = rules_image(ImageRule("a", "whole", b"x", least=1))
    assert rust_answers(rules, names) == [{"a"}]


def forest_of(tree: ByteTree, features: int = 1) -> ForestSection:
    every = [Feature("history", byte) for byte in range(features)]
    return ForestSection(every, [], [Group(1, {"a": 0}, [tree])])


ONE_SPLIT = ByteTree(
    np.zeros(1, int), np.zeros(1, np.uint8), np.array([[1, 2]]), np.array([[0], [1]], np.uint8)
)


def chain(length: int) -> ByteTree:
    """Return a tree of so many levels, with one leaf for each and the last."""
    first = np.arange(1, length + 1)
    children = np.column_stack([np.where(first < length, first, 2 * length), length + first - 1])
    zeros = np.zeros(length, np.int64)
    return ByteTree(zeros, zeros.astype(np.uint8), children, np.ones((length + 1, 1), np.uint8))


def test_a_tree_of_as_many_levels_as_can_be_is_answered():
    image = Image(plain_image(["a"], [forest_of(chain(255))]))
    creates = pa.table({"name": [b"x", b"x"], "history": pa.array([b"\0", b"\1"])})
    assert predict(image, creates)["a"].to_pylist() == [True, True]


def test_a_tree_that_asks_nothing_is_answered():
    """All births of a day may have become the same."""
    leaf = ByteTree(
        np.zeros(0, int), np.zeros(0, np.uint8), np.zeros((0, 2), int), np.ones((1, 1), np.uint8)
    )
    image = Image(plain_image(["a"], [forest_of(leaf)]))
    creates = pa.table({"name": [b"x"], "history": pa.array([b"\0"])})
    assert predict(image, creates)["a"].to_pylist() == [True]


def test_predicates_of_one_column_share_its_scores():
    bounds = [0, 1, 2, 3]
    keys = [str(bound) for bound in bounds]
    hundreds = replace(chain(100), scores=np.ones((101, 1), np.uint8))

    def image(keys: list[str]) -> bytes:
        group = Group(1, dict.fromkeys(keys, 0), [hundreds] * 2)
        scoring = Scoring(ForestSection([Feature("history")], [], [group]), always(keys))
        return compile_image([plain_predicate(key, int(key)) for key in keys], [scoring])

    row = BM_PREDICATE_ENTRY + 5  # an output, a key
    assert len(image(keys)) - len(image(keys[:1])) < 3 * row + 20, (
        "they have the scores of a tree again"
    )
    found = predict(Image(image(keys)), pa.table({"name": [b"x"], "history": [b"\0"]}))
    assert [found[key].to_pylist() for key in keys] == [[True], [True], [True], [False]]


def test_models_beyond_the_limits_are_refused():
    with pytest.raises(ValueError, match="1 to 256 predicates, not 257"):
        plain_image([str(n) for n in range(257)], [])
    with pytest.raises(ValueError, match="same key"):
        plain_image(["a", "a"], [])
    with pytest.raises(ValueError, match="at most 16 sections, not 17"):
        plain_image(["a"], [RulesSection([])] * 17)
    with pytest.raises(ValueError, match="a text of 65536 bytes"):
        rules_image(ImageRule("a", "whole", b"x" * 65536, least=1))
    group = Group(1, {}, [ONE_SPLIT] * 257)
    with pytest.raises(ValueError, match="257 trees"):
        plain_image(["a"], [ForestSection([Feature("hour")], [], [group])])
    wide = replace(ONE_SPLIT, scores=np.zeros((65536, 1), np.uint8))
    with pytest.raises(ValueError, match="a tree of 65536 nodes or leaves"):
        plain_image(["a"], [forest_of(wide)])
    with pytest.raises(ValueError, match="a threshold of 255, which no byte is above"):
        plain_image(["a"], [forest_of(replace(ONE_SPLIT, threshold=np.full(1, 255, np.uint8)))])
    with pytest.raises(ValueError, match="a tree of more levels than the 255"):
        plain_image(["a"], [forest_of(chain(256))])
    wide, key = chain(250), [str(n) for n in range(256)]
    outputs = {name: column for column, name in enumerate(key)}
    group = Group(256, outputs, [replace(wide, scores=np.zeros((251, 256), np.uint8))] * 256)
    with pytest.raises(ValueError, match=r"would take \d+ steps: an image has at most 16384"):
        plain_image(key, [ForestSection([Feature("hour")], [], [group])])
    with pytest.raises(ValueError, match="order must name each"):
        plain_image(["a"], [RulesSection([], ("whole",))])


def test_features_that_no_tree_uses_take_no_room():
    late = replace(ONE_SPLIT, feature=np.array([999]))
    image = plain_image(["a"], [forest_of(late, 1000)])
    assert len(image) == len(plain_image(["a"], [forest_of(ONE_SPLIT)]))
    creates = pa.table(
        {
            "name": [b"x", b"x"],
            "history": pa.array([bytes(999) + b"\1", bytes(1000)]),
        }
    )
    assert predict(Image(image), creates)["a"].to_pylist() == [True, False]


def test_texts_that_share_a_bucket_get_another_seed(monkeypatch):
    monkeypatch.setattr(image_dictionary, "BUCKET", 1)
    rules = [ImageRule("a", "whole", b"n%d" % n, least=1) for n in range(5)]
    content = rules_image(*rules)
    seed = struct.unpack_from("<I", content, struct.unpack_from("<I", content, 52)[0])[0]
    assert seed > 0
    names = [b"n%d" % n for n in range(20)]
    assert predict(Image(content), table(*names))["a"].to_pylist() == [n < 5 for n in range(20)]
    monkeypatch.setattr(image_dictionary, "BUCKET", 0)
    with pytest.raises(ValueError, match="whatever the seed"):
        rules_image(*rules)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainedModel, list[pa.Table]]:
    """Return models of all kinds of the first bundled day, and the creates of both."""
    folder = tmp_path_factory.mktemp("days")
    for number, day in enumerate(DAYS):
        ingest([str(day)], folder / str(number))
    files, names = read_files(folder / "0"), read_names(folder / "0")
    model = TrainedModel(trees=8, rounds=5).train(files, names, kinds=tuple(KINDS))
    return model, creates_of(model, [folder / "0", folder / "1"])


def creates_of(model: TrainedModel, folders: list[Path]) -> list[pa.Table]:
    readers: dict[Subject, object] = {"file": read_files, "name": read_names}
    return [
        model.creates(subject, births(read(folder)))
        for folder in folders
        for subject, read in readers.items()
    ]


@pytest.mark.deep
@pytest.mark.parametrize("kind", [*KINDS, BEST])
@pytest.mark.parametrize("point", POINTS)
def test_the_image_of_a_model_answers_as_the_model_on_every_bundled_row(kind, point, sampled):
    model, tables = sampled
    models = model.models[kind]
    image = Image(compile_models(models, point))
    assert image.predicates == list(models)
    silent = [
        [each.at(point) is None for each in models.points_for(t).values()] for t in HISTORY_SCOPES
    ]
    assert image.abstained == [k for k, *own in zip(models, *silent, strict=True) if all(own)]
    true = set()
    for creates in tables:
        assert len(creates) > 500
        expected = model.predict(creates, kind, point)
        found = predict(image, creates)
        assert list(found) == list(expected)
        for key, answers in expected.items():
            assert found[key].equals(answers), key
        true |= {key for key, answers in found.items() if answers.true_count}
    assert true
    assert true.isdisjoint(image.abstained)


@pytest.mark.deep
@pytest.mark.parametrize("kind", [*KINDS, BEST])
@pytest.mark.parametrize("point", POINTS)
def test_an_image_answers_three_ways_as_the_model_on_every_bundled_row(kind, point, sampled):
    model, tables = sampled
    content = compile_models(model.models[kind], "bounded", model.assignments)
    answerer = Answerer(content, ("version", kind, point), (Tally(), Tally()), three_way=True)
    unsure = 0
    for creates in tables:
        (batch,) = creates.combine_chunks().to_batches()
        columns = zip(answerer.predicates, *answerer.three_way_answers(batch), strict=True)
        found = {key: (words, probabilities) for key, words, probabilities in columns}
        for key, answer in model.answer(creates, kind, point).items():
            words, probabilities = found[key]
            assert words.equals(answer.words), key
            assert probabilities.equals(answer.probabilities), key
            unsure += int(answer.is_word("unsure").sum())
    assert unsure


def test_an_image_at_another_point_is_the_one_compiled_for_it(sampled):
    models = sampled[0].models["rules"]
    bounded, accurate = (compile_models(models, point) for point in ("bounded", "accurate"))
    assert at_point(bounded, "accurate") == accurate != bounded


@pytest.mark.parametrize("kind", KINDS)
def test_the_image_of_a_model_answers_as_the_model_on_every_captured_day(kind, captured_days):
    files, names = read_files(captured_days[0]), read_names(captured_days[0])
    model = TrainedModel(trees=8, rounds=5, calibration=0).train(files, names, kinds=(kind,))
    image = Image(compile_models(model.models[kind], "accurate"))
    for creates in creates_of(model, captured_days):
        found = predict(image, creates)
        for key, answers in model.predict(creates, kind).items():
            assert found[key].equals(answers), key


def test_the_ends_of_the_scale_of_thresholds_say_always_yes_and_always_no(sampled):
    model, tables = sampled
    creates = tables[0].slice(0, 200)
    for models in (own.at("accurate") for own in model.models.values()):
        before = dict(models.points)
        try:
            keys = list(models)
            ends = dict(zip(keys, map(OperatingPoints, (0.0, NEVER)), strict=False))
            models.points = {scope: models.points_for(scope) | ends for scope in HISTORY_SCOPES}
            found = predict(Image(compile_models(models, "accurate")), creates)
            assert found[keys[0]].true_count == 200
            assert found[keys[1]].true_count == 0
            for key, answers in models.predict(creates, "accurate").items():
                assert found[key].equals(answers)
        finally:
            models.points = before


def test_a_model_is_compiled_within_its_budget(sampled):
    model, _ = sampled
    for models in model.models.values():
        image = Image(compile_models(models, "accurate"))
        assert image.size / len(image.predicates) <= 64 * 1024


@pytest.mark.deep
def test_the_image_of_a_model_declares_just_the_steps_that_it_may_take(sampled):
    model, _ = sampled
    images = [(k, compile_models(m, point)) for k, m in model.models.items() for point in POINTS]
    images += [(k, hint_image(model, k, point)) for k in model.hints for point in POINTS]
    assert len(images) > 8
    for kind, image in images:
        steps = declared(image)
        several = 2 if kind == BEST else 1
        assert 0 < steps <= several * STEPS // 4, "little of what is allowed"
        Image(sealed(image, STEPS_AT, STEPS))
        for wrong in (steps - 1, STEPS + 1):
            with pytest.raises(ValueError, match="more steps than the image declares, or than are"):
                Image(sealed(image, STEPS_AT, wrong))


def test_all_predicates_that_an_image_can_have_leave_room_for_more_steps():
    """Forests of the usual size, of 256 predicates of four kinds of lives, and as many trees."""
    grown = made(3, ("trees",), n=256).sections
    keys = [f"trees {number}" for number in range(256)]
    wide = replace(chain(40), scores=np.zeros((41, 64), np.uint8))
    own = [keys[place : place + 64] for place in range(0, 256, 64)]
    groups = [
        Group(
            64,
            {key: column for column, key in enumerate(some)},
            [wide] * 92,
        )
        for some in own
    ]
    forest = ForestSection([Feature("hour")], [], groups)
    rules = [RulesSection([ImageRule(key, "any", b"", least=1) for key in keys])] * 2
    sections = [*grown, *(Scoring(own, always(keys)) for own in (forest, *rules))]
    image = compile_image([plain_predicate(key) for key in keys], sections)
    assert declared(image) < STEPS * 3 // 4
    assert Image(image).predicates == keys


def test_a_kind_without_a_section_is_refused(sampled):
    models = sampled[0].models["name"]
    other = type("Other", (ModelSet,), {"kind": "other"})(models)
    with pytest.raises(ValueError, match="of kind 'other'"):
        compile_models(other, "accurate")


def test_creates_of_requests_have_every_column_that_images_use():
    assert {field.name for field in CREATES} <= set(EVERY_COLUMN.names)
    for field in CREATES:
        assert EVERY_COLUMN.field(field.name).type == field.type
