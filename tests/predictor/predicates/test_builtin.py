"""Expected answers are the words of thesis Tables 6.4 to 6.8 applied to hand-made lives."""

from __future__ import annotations

import datetime
import pickle

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES, NAMES
from birthmark.predictor.predicates import FILE_PREDICATES, NAME_PREDICATES
from birthmark.predictor.predicates.builtin import outcome
from tests.builders.lives import table

BORN = datetime.datetime(2001, 10, 22, 10, 0, tzinfo=datetime.UTC)
MICROSECOND = 1e-6
K = 1024
M = 1024 * K


def after(seconds: float) -> datetime.datetime:
    return BORN + datetime.timedelta(microseconds=round(seconds * 1e6))


def dead(lifespan: float) -> dict[str, object]:
    end = after(lifespan)
    return {
        "birth_seen": True,
        "born": BORN,
        "death_seen": True,
        "died": end,
        "observed_until": end,
    }


def alive(for_at_least: float) -> dict[str, object]:
    until = after(for_at_least)
    return {"birth_seen": True, "born": BORN, "death_seen": False, "observed_until": until}


def unborn(died: float) -> dict[str, object]:
    return {"birth_seen": False, "death_seen": True, "died": after(died), "observed_until": BORN}


def file_answer(predicate: str, **life: object) -> bool | None:
    (answer,) = FILE_PREDICATES[predicate].evaluate(table(FILES, [life])).to_pylist()
    return answer


def name_answer(predicate: str, **life: object) -> bool | None:
    (answer,) = NAME_PREDICATES[predicate].evaluate(table(NAMES, [life])).to_pylist()
    return answer


SIZES = [
    ("size=zero", {0: True, 1: False}),
    ("0<size<=16k", {0: False, 1: True, 16 * K: True, 16 * K + 1: False}),
    ("0<size<=64k", {0: False, 1: True, 64 * K: True, 64 * K + 1: False}),
    ("0<size<1M", {0: False, 1: True, M - 1: True, M: False}),
    ("size>16k", {0: False, 16 * K: False, 16 * K + 1: True}),
    ("size>64k", {0: False, 64 * K: False, 64 * K + 1: True}),
    ("size>1M", {0: False, M: False, M + 1: True, 2**40: True}),
]


@pytest.mark.parametrize(("predicate", "answers"), SIZES)
def test_size_predicates_hold_on_their_side_of_each_bound(predicate, answers):
    found = {size: file_answer(predicate, max_size=size) for size in answers}
    assert found == answers
    assert file_answer(predicate, max_size=None) is None


def test_size_is_the_largest_ever_seen():
    assert file_answer("size=zero", max_size=10, last_size=0) is False


US = MICROSECOND
DEAD = [
    ("lifespan<=1", {0: True, 1: True, 1 + US: False}),
    ("lifespan<=5", {0: True, 5: True, 5 + US: False}),
    ("lifespan<=30", {0: True, 30: True, 30 + US: False}),
    ("1<lifespan<=30", {1: False, 1 + US: True, 30: True, 30 + US: False}),
    ("lifespan>1", {1: False, 1 + US: True}),
    ("lifespan>5", {5: False, 5 + US: True}),
]


@pytest.mark.parametrize(("predicate", "answers"), DEAD)
def test_lifespan_of_the_dead_is_known_to_the_microsecond(predicate, answers):
    found = {lifespan: file_answer(predicate, **dead(lifespan)) for lifespan in answers}
    assert found == answers


ALIVE = [
    ("lifespan<=1", {0: None, 1: None, 1 + US: False}),
    ("lifespan<=5", {0: None, 5: None, 5 + US: False}),
    ("lifespan<=30", {0: None, 30: None, 30 + US: False}),
    ("1<lifespan<=30", {0.5: None, 1 + US: None, 30: None, 30 + US: False}),
    ("lifespan>1", {1: None, 1 + US: True}),
    ("lifespan>5", {5: None, 5 + US: True}),
]


@pytest.mark.parametrize(("predicate", "answers"), ALIVE)
def test_lifespan_of_the_living_is_known_once_it_exceeds_the_bound(predicate, answers):
    found = {seen: file_answer(predicate, **alive(seen)) for seen in answers}
    assert found == answers


@pytest.mark.parametrize(("predicate", "answers"), DEAD)
def test_lifespan_is_unknown_where_no_birth_was_seen(predicate, answers):
    assert file_answer(predicate, **unborn(60)) is None


@pytest.mark.parametrize(
    ("life", "expected"),
    [
        ({"writes": 0} | dead(5), True),
        ({"writes": 0} | dead(5 + US), False),
        ({"writes": 1} | dead(1), False),
        ({"writes": 0} | alive(5), None),
        ({"writes": 0} | alive(5 + US), False),
        ({"writes": 1} | alive(1), False),
        ({"writes": 1} | unborn(1), False),
    ],
)
def test_a_lock_is_never_written_and_deleted_within_five_seconds(life, expected):
    assert file_answer("lock", **life) is expected


@pytest.mark.parametrize(
    ("reads", "writes", "write_only", "read_only"),
    [
        (0, 0, False, False),
        (9, 0, False, False),
        (0, 1, True, False),
        (1, 5, False, False),
        (1, 6, True, False),
        (20, 1, False, False),
        (21, 1, False, True),
        (40, 2, False, False),
        (41, 2, False, True),
    ],
)
def test_read_write_ratio_is_of_operations_of_written_files(reads, writes, write_only, read_only):
    assert file_answer("write-only", reads=reads, writes=writes) is write_only
    assert file_answer("read-only", reads=reads, writes=writes) is read_only


@pytest.mark.parametrize(
    ("atime", "mtime", "read_later"),
    [
        (after(1), after(1), False),
        (after(1 + US), after(1), True),
        (after(1), after(1 + US), False),
        (None, after(1), None),
        (after(1), None, None),
    ],
)
def test_amtime_compares_the_times_last_seen(atime, mtime, read_later):
    complement = None if read_later is None else not read_later
    assert file_answer("amtime>0", atime=atime, mtime=mtime) is read_later
    assert file_answer("amtime<=0", atime=atime, mtime=mtime) is complement


@pytest.mark.parametrize("predicate", ["amtime<=0", "amtime>0"])
def test_a_file_that_was_never_written_was_not_read_or_written_more_recently(predicate):
    # Tables 6.5 to 6.7: both shares and that of size=zero add up to all files
    for atime in (after(1), after(2), None):
        assert file_answer(predicate, writes=0, atime=atime, mtime=after(1)) is False
    assert file_answer(predicate, writes=1, atime=None, mtime=after(1)) is None


@pytest.mark.parametrize(("predicate", "bound"), [(f"lifespan<={n}", n) for n in (1, 5, 30)])
def test_a_name_has_a_lifespan_of_its_own(predicate, bound):
    assert name_answer(predicate, **dead(bound)) is True
    assert name_answer(predicate, **dead(bound + US)) is False
    assert name_answer(predicate, **alive(bound)) is None
    assert name_answer(predicate, **alive(bound + US)) is False
    assert name_answer(predicate, **unborn(1)) is None


@pytest.mark.parametrize(
    ("life", "expected"),
    [
        ({"file_writes": 0} | dead(5), True),
        ({"file_writes": 0} | dead(5 + US), False),
        ({"file_writes": 1} | dead(1), False),
        ({"file_writes": None} | dead(1), None),
        ({"file_writes": None} | dead(6), False),
    ],
)
def test_the_name_of_a_lock_lives_five_seconds_and_its_file_is_never_written(life, expected):
    assert name_answer("lock", **life) is expected


def test_the_size_of_a_name_is_that_of_its_file():
    found = [name_answer("size=zero", file_max_size=size) for size in (0, 1, None)]
    assert found == [True, False, None]


def test_the_registries_hold_the_predicates_of_the_tables_in_their_order():
    table_6_5 = (
        "lock size=zero 0<size<=16k 0<size<=64k 0<size<1M size>16k size>64k size>1M amtime<=0 "
        "amtime>0 lifespan<=1 lifespan<=5 lifespan<=30 1<lifespan<=30 lifespan>1 lifespan>5 "
        "write-only"
    )
    table_6_8 = "lock size=zero lifespan<=1 lifespan<=5 lifespan<=30"
    assert list(FILE_PREDICATES) == [*table_6_5.split(), "read-only"]
    assert list(NAME_PREDICATES) == table_6_8.split()
    assert [p.key for p in NAME_PREDICATES.values()] == [f"name:{n}" for n in table_6_8.split()]
    assert FILE_PREDICATES["lock"].source == "thesis Table 6.4"


def test_every_predicate_answers_a_whole_table_at_once_and_can_be_sent_to_another_process():
    lives = [
        dead(1) | {"writes": 0, "reads": 0, "max_size": 0},
        alive(2) | {"writes": 1, "reads": 0},
    ]
    for predicate in pickle.loads(pickle.dumps(list(FILE_PREDICATES.values()))):
        answers = predicate.evaluate(table(FILES, lives))
        assert isinstance(answers, pa.BooleanArray)
        assert len(answers) == 2
        assert len(predicate.evaluate(table(FILES, []))) == 0


def test_the_predicates_of_the_thesis_have_words_and_others_have_none() -> None:
    assert outcome("lifespan<=5") == outcome("name:lifespan<=5") == "gone within 5 s"
    assert outcome("mine") is None
    keys = [p.key for p in (*FILE_PREDICATES.values(), *NAME_PREDICATES.values())]
    assert [key for key in keys if outcome(key) is None and "Hot" not in key] == []
