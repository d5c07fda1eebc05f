"""Lives so far on both sides of every bound: what time has decided, and what it has not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.traces.reader import open_trace
from birthmark.predictor import FILE_PREDICATES, NAME_PREDICATES, from_config
from birthmark.predictor.heat import reconsider, settled
from birthmark.predictor.predicates import BUILT_IN

US = 1e-6
K = 1024
M = 1024 * K
HOUR = 3600


def decided(table, row, key, predicates=BUILT_IN):
    (found,) = settled(table(row), predicates)[key].to_pylist()
    return found


@pytest.mark.parametrize(
    ("key", "below", "above", "once_exceeded"),
    [
        ("lifespan<=1", 1, 1 + US, False),
        ("lifespan<=5", 5, 5 + US, False),
        ("lifespan<=30", 30, 30 + US, False),
        ("1<lifespan<=30", 30, 30 + US, False),
        ("lifespan>1", 1, 1 + US, True),
        ("lifespan>5", 5, 5 + US, True),
        ("lock", 5, 5 + US, False),
    ],
)
def test_a_life_is_settled_once_it_is_older_than_the_bound(
    life, table, key, below, above, once_exceeded
):
    assert decided(table, life(b"x", below), key) is None
    assert decided(table, life(b"x", above), key) is once_exceeded


def test_a_middling_life_is_not_settled_while_it_is_middling(life, table):
    answers = [decided(table, life(b"x", age), "1<lifespan<=30") for age in (0.5, 1 + US, 30)]
    assert answers == [None, None, None]


@pytest.mark.parametrize(
    ("key", "below", "above", "once_exceeded"),
    [
        ("size=zero", 0, 1, False),
        ("0<size<=16k", 16 * K, 16 * K + 1, False),
        ("0<size<=64k", 64 * K, 64 * K + 1, False),
        ("0<size<1M", M - 1, M, False),
        ("size>16k", 16 * K, 16 * K + 1, True),
        ("size>64k", 64 * K, 64 * K + 1, True),
        ("size>1M", M, M + 1, True),
    ],
)
def test_a_size_is_settled_once_it_exceeds_the_bound(life, table, key, below, above, once_exceeded):
    for size in (0, below):
        assert decided(table, life(b"x", 9, max_size=size), key) is None
    assert decided(table, life(b"x", 9, max_size=above), key) is once_exceeded


def test_one_write_refutes_a_lock(life, table):
    assert decided(table, life(b"x", 1), "lock") is None
    assert decided(table, life(b"x", 1, writes=1), "lock") is False


@pytest.mark.parametrize("key", ["write-only", "read-only", "amtime<=0", "amtime>0"])
def test_answers_that_reads_or_writes_can_change_are_open_in_a_life_that_goes_on(life, table, key):
    for reads, writes in ((0, 0), (0, 9), (900, 1)):
        row = life(b"x", 99, reads=reads, writes=writes, max_size=9)
        assert decided(table, row, key) is None


@pytest.mark.parametrize(
    ("seconds", "size", "expected"),
    [(5, 0, None), (5, 1, None), (5 + US, 1, False), (5 + US, 0, None)],
)
def test_a_hot_name_is_refuted_by_age_and_size_together(life, table, seconds, size, expected):
    assert decided(table, life(b"x", seconds, max_size=size), "HotName") is expected


@pytest.mark.parametrize(
    ("seconds", "writes", "expected"),
    [
        (1, 3, None),
        (1, 4, True),
        (4 * HOUR - 1, 3, None),
        (4 * HOUR, 3, False),
        (4 * HOUR, 4, True),
        (4 * HOUR + 1, 4, False),
    ],
)
def test_a_hot_write_is_confirmed_by_its_writes_and_refuted_by_silence(
    life, table, seconds, writes, expected
):
    row = life(b"x", seconds, writes=writes, max_size=1)
    assert decided(table, row, "HotWrite") is expected


def test_a_file_whose_birth_was_not_seen_is_at_least_as_old_as_it_was_watched(life, table):
    assert decided(table, life(b"x", 6, born=False), "lifespan>5") is True
    assert decided(table, life(b"x", 4, born=False), "lifespan>5") is None
    assert decided(table, life(b"x", 6, born=False, alive=False), "lifespan>5") is None


def test_predicates_of_the_configuration_are_settled_too(life, table):
    config = {"name": "kept", "size_above": 100, "lifespan_above": 60}
    predicates = {"kept": from_config(config)}
    for seconds, size, expected in ((60, 101, None), (61, 100, None), (61, 101, True)):
        row = life(b"x", seconds, max_size=size)
        assert decided(table, row, "kept", predicates) is expected


def test_names_are_settled_as_files_are(table, life):
    schema = pa.schema([*table().schema, pa.field("file_writes", pa.uint64())])
    schema = schema.append(pa.field("file_max_size", pa.uint64()))
    row = life(b"x", 3) | {"file_writes": 0, "file_max_size": 5}
    found = settled(pa.Table.from_pylist([row], schema=schema), subject="name")
    assert set(found) == {predicate.key for predicate in NAME_PREDICATES.values()}
    assert [found[f"name:lifespan<={n}"][0].as_py() for n in (1, 5)] == [False, None]
    assert found["name:size=zero"][0].as_py() is False


def test_the_dead_are_settled_as_they_are_labelled(life, table):
    rows = [life(b"x", 3, alive=False, writes=2, max_size=5, reads=90), life(b"y", 9, alive=False)]
    dead = table(*rows)
    for key, answers in settled(dead).items():
        assert answers.equals(BUILT_IN[key].evaluate(dead)), key


def test_decided_answers_and_scores_are_corrected_and_others_stay(life, table):
    now = table(life(b"old", 3, max_size=5), life(b"new", 0.5, max_size=0))
    predictions = {"lifespan<=1": pa.array([True, True]), "lifespan<=5": pa.array([True, False])}
    assert {k: v.to_pylist() for k, v in reconsider(now, predictions).items()} == {
        "lifespan<=1": [False, True],
        "lifespan<=5": [True, False],
    }
    scores = {"size=zero": pa.array([0.9, 0.9]), "lifespan>1": pa.array([0.2, 0.2])}
    assert {k: v.to_pylist() for k, v in reconsider(now, scores).items()} == {
        "size=zero": [0.0, 0.9],
        "lifespan>1": [1.0, 0.2],
    }


def test_a_prediction_of_something_else_is_refused(life, table):
    with pytest.raises(ValueError, match="'name:lock'"):
        reconsider(table(life(b"x")), {"name:lock": pa.array([True])})


def test_answers_settled_in_the_middle_of_the_sample_are_true_at_its_end():
    operations = list(open_trace("data/samples/day1.parquet"))
    half, _ = lives.tables(iter(operations[: len(operations) // 2]))
    whole, _ = lives.tables(iter(operations))
    place = {handle: n for n, handle in enumerate(whole["fh"].to_pylist())}
    places = [place[handle] for handle in half["fh"].to_pylist()]
    assert len(place) == len(whole)
    later = whole.take(places)
    checked = 0
    for key, answers in settled(half, FILE_PREDICATES).items():
        at_end = FILE_PREDICATES[key].evaluate(later)
        both = np.asarray(answers.is_valid()) & np.asarray(at_end.is_valid())
        assert answers.filter(pa.array(both)).equals(at_end.filter(pa.array(both))), key
        checked += int(both.sum())
    assert checked > 10_000
