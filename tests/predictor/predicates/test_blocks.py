"""Block counts are checked against the writes they are the least of, block by block."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.data import lives
from birthmark.data.schema import FILES
from birthmark.data.traces.reader import open_trace
from birthmark.predictor.predicates import blocks
from tests.builders.lives import life, table

START = datetime.datetime(2003, 2, 25, tzinfo=datetime.UTC)
WRITES = st.lists(st.tuples(st.integers(0, 50_000), st.integers(1, 30_000)), min_size=1, max_size=9)


def one(**columns: object) -> pa.Table:
    return table(FILES, [life(None, None, end=0.0, day=START) | columns])


@given(WRITES)
def test_no_more_blocks_are_counted_than_were_written(writes):
    touched = [
        (offset + count - 1) // blocks.BLOCK - offset // blocks.BLOCK + 1
        for offset, count in writes
    ]
    size = max(offset + count for offset, count in writes)
    table = one(writes=len(writes), bytes_written=sum(n for _, n in writes), max_size=size)
    (found,) = blocks.block_writes(table).to_pylist()
    assert sum(touched) / 3 <= found <= sum(touched)
    assert found >= len(writes)
    assert blocks.own_blocks(table).to_pylist() == [(size - 1) // blocks.BLOCK + 1]


@pytest.mark.parametrize(
    ("size", "writes", "held"),
    [(0, 0, 0), (1, 1, 1), (4096, 1, 1), (4097, 1, 2), (None, 0, 0), (None, 1, 1)],
)
def test_a_life_holds_the_blocks_of_its_largest_size(size, writes, held):
    assert blocks.own_blocks(one(max_size=size, writes=writes)).to_pylist() == [held]


def test_a_life_is_watched_from_its_birth_or_from_where_it_was_first_seen():
    later = START + datetime.timedelta(hours=2)
    old = one(observed_until=later)
    new = one(born=START + datetime.timedelta(hours=1), observed_until=later)
    assert blocks.hours_watched(pa.concat_tables([old, new])).to_pylist() == [2, 1]


def test_nearly_all_block_writes_of_the_sample_are_found():
    operations = list(open_trace("data/samples/day1.parquet"))
    files, _ = lives.tables(iter(operations))
    table = pa.Table.from_batches(operations)
    done = pc.and_(pc.equal(table["op"].cast(pa.utf8()), "write"), pc.equal(table["status"], 0))
    writes = table.filter(pc.fill_null(done, False)).select(["offset", "reply_count"]).to_pylist()
    true = sum(
        (row["offset"] + row["reply_count"] - 1) // blocks.BLOCK - row["offset"] // blocks.BLOCK + 1
        for row in writes
        if row["reply_count"]
    )
    found = pc.sum(blocks.block_writes(files)).as_py()
    assert 0.9 * true < found <= true
