"""Expected answers are the words of thesis chapter 7 and of the definitions, on hand-made lives."""

from __future__ import annotations

import datetime
import pickle

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES
from birthmark.features import DIRECTORIES
from birthmark.predictor.predicates import BUILT_IN, DIRECTORY_PREDICATES, HEAT_PREDICATES
from tests.builders.lives import life, table

BORN = datetime.datetime(2003, 2, 25, 10, 0, tzinfo=datetime.UTC)
US = 1e-6
BLOCK = 4096
HOUR = 3600.0


def lived(lifespan: float | None = None, watched: float = 0.0, **columns: object) -> pa.Table:
    """Return a file that died after a lifespan, or was watched for so many seconds."""
    return table(FILES, [life(None, 0.0, lifespan, watched, BORN, **{"max_size": 0} | columns)])


def answer(predicate: str, table: pa.Table) -> bool | None:
    (found,) = HEAT_PREDICATES[predicate].evaluate(table).to_pylist()
    return found


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (lived(5, max_size=1), True),
        (lived(5 + US, max_size=1), False),
        (lived(5 + US, max_size=0), True),
        (lived(watched=5, max_size=1), None),
        (lived(watched=5 + US, max_size=1), False),
        (lived(watched=5, max_size=0), True),
        (lived(watched=9, max_size=None), None),
        (lived(1, max_size=None), True),
    ],
)
def test_a_hot_name_is_short_lived_or_empty(table, expected):
    assert answer("HotName", table) is expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # one block, written three and four times
        (lived(60, writes=3, bytes_written=30, max_size=10), False),
        (lived(60, writes=4, bytes_written=40, max_size=10), True),
        # two blocks: a log of small appends
        (lived(60, writes=7, bytes_written=BLOCK + 1, max_size=BLOCK + 1), False),
        (lived(60, writes=8, bytes_written=BLOCK + 1, max_size=BLOCK + 1), True),
        # few large writes count by their bytes
        (lived(60, writes=1, bytes_written=4 * BLOCK, max_size=BLOCK), True),
        (lived(60, writes=1, bytes_written=3 * BLOCK, max_size=BLOCK), False),
        # as often, but once an hour, and less
        (lived(4 * HOUR, writes=4, max_size=1), True),
        (lived(4 * HOUR + 1, writes=4, max_size=1), False),
        (lived(4 * HOUR + 1, writes=5, max_size=1), True),
        # never written, and of unknown size
        (lived(60), False),
        (lived(60, writes=4, bytes_written=4, max_size=None), True),
    ],
)
def test_a_hot_write_is_written_four_times_over_and_once_an_hour(table, expected):
    assert answer("HotWrite", table) is expected


@pytest.mark.parametrize(
    ("watched", "writes", "expected"),
    [(60 - US, 3, None), (60, 3, False), (1, 4, True), (60, 0, False), (4 * HOUR + 1, 4, False)],
)
def test_a_file_watched_for_less_than_a_minute_may_yet_be_written(watched, writes, expected):
    table = lived(watched=watched, writes=writes, bytes_written=writes, max_size=1)
    assert answer("HotWrite", table) is expected


@pytest.mark.parametrize(
    ("births", "hot", "expected"), [(2, 1, True), (3, 1, False), (1, 0, False), (0, 0, None)]
)
def test_half_of_the_births_of_a_hot_directory_are_hot(births, hot, expected):
    row = {"server": "s", "fh": b"d", "births": births, "hot_births": hot}
    table = pa.Table.from_pylist([row], schema=DIRECTORIES)
    (found,) = DIRECTORY_PREDICATES["HotDir"].evaluate(table).to_pylist()
    assert found is expected


def test_every_built_in_predicate_has_a_key_of_its_own_and_a_source():
    assert {"HotName", "HotWrite", "directory:HotDir", "lock", "name:lock"} <= set(BUILT_IN)
    assert BUILT_IN["HotName"].source.startswith("thesis chapter 7")
    assert all(key == predicate.key for key, predicate in BUILT_IN.items())


def test_they_answer_whole_tables_and_can_be_sent_to_another_process():
    for predicate in pickle.loads(pickle.dumps(list(HEAT_PREDICATES.values()))):
        answers = predicate.evaluate(pa.concat_tables([lived(1), lived(2)]))
        assert isinstance(answers, pa.BooleanArray)
        assert len(answers) == 2
        assert len(predicate.evaluate(lived(1).slice(1))) == 0
