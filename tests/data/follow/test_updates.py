"""Updates of a live history survive their streams, and invalid streams are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.follow import updates
from birthmark.data.follow.beside import MOST_BYTES
from birthmark.data.follow.updates import SCHEMA, OtherFormatError, Update, read
from birthmark.data.samples import DAYS
from birthmark.data.schema import LAST_US
from birthmark.features import History
from birthmark_native import HistoryChanges
from tests.builders.updates import CLOCK, HANDLE, PATH, changes, update


@pytest.fixture(scope="module")
def sent_changes() -> HistoryChanges:
    files, _ = lives.tables(pq.read_table(DAYS[0]).slice(0, 3000).to_batches())
    history = History()
    history.follow(files)
    return changes(history.keeper)


@pytest.fixture(scope="module")
def row(sent_changes: HistoryChanges) -> pa.RecordBatch:
    with pa.ipc.open_stream(update(7, sent=sent_changes).to_stream()) as reader:
        (row,) = reader
    return row


def stream(row: pa.RecordBatch, *more: pa.RecordBatch, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, row.schema, **options) as writer:
        for each in (row, *more):
            writer.write_batch(each)
    return bytes(sink.getvalue())


def with_column(row: pa.RecordBatch, name: str, values: pa.Array) -> pa.RecordBatch:
    return row.set_column(SCHEMA.get_field_index(name), SCHEMA.field(name), values)


def rows(changes: HistoryChanges) -> list[Any]:
    return [each.to_pylist() for each in changes.to_arrow()]


def test_an_update_comes_back_from_its_stream(sent_changes: HistoryChanges) -> None:
    sent_changes = HistoryChanges.from_arrow(
        pa.array([3, 2**64 - 1], pa.uint64()), *rest(sent_changes)
    )
    sent = update(7, whole=False, sent=sent_changes, lag=0.25, thresholds="{}")
    found = read(bytes(sent.to_stream()))
    assert replace(found, changes=sent_changes) == sent
    assert len(found.changes) == len(sent_changes) > 100
    assert rows(found.changes) == rows(sent_changes)
    removed_keys, records, directories = found.changes.to_arrow()
    assert removed_keys.to_pylist() == [3, 2**64 - 1]
    assert len(records) > 100
    assert directories["used"].cast(pa.int64()).to_pylist() == [CLOCK] * 2  # by handle and by path


def rest(sent_changes: HistoryChanges) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    _, records, directories = sent_changes.to_arrow()
    return records, directories


def test_no_name_of_a_file_or_directory_is_sent(sent_changes: HistoryChanges) -> None:
    sent = bytes(update(7, sent=sent_changes).to_stream())
    assert HANDLE not in sent
    assert PATH not in sent
    assert b"ada" not in sent


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("state", "odd", "state: .*'starting', 'following' or 'stopped', found 'odd'"),
        ("lag", -1.0, "lag: .*greater than or equal to 0, found -1.0"),
        ("lag", float("nan"), "lag: .*finite"),
        ("lag", float("inf"), "lag: .*finite"),
        ("loss", 1.5, "loss: .*less than or equal to 1, found 1.5"),
        ("loss", float("nan"), "loss: .*finite"),
        ("sender", "", "sender: .*at least 1 character"),
        ("sender", "a\nb", "sender: expected printable characters"),
        ("version", "1" * 256, "version: .*at most 255 characters"),
        ("thresholds", " " * (MOST_BYTES + 1), "thresholds: .*at most 1048576 characters"),
        ("session", None, "session: expected no nulls"),
        ("records", None, "records: expected no nulls"),
        ("clock", 2**62, f"clock: .*less than or equal to {LAST_US}"),
    ],
)
def test_invalid_updates_are_refused_with_a_message(
    row: pa.RecordBatch, name: str, value: Any, words: str
) -> None:
    damaged = with_column(row, name, pa.array([value], SCHEMA.field(name).type))
    with pytest.raises(ValueError, match=words):
        read(stream(damaged))


def test_a_record_that_cannot_be_is_refused_with_its_row_and_column(row: pa.RecordBatch) -> None:
    records = row["records"].flatten()
    births = np.array(records.field("births"))
    births[5] = 0
    place = records.type.get_field_index("births")
    columns = [records.field(number) for number in range(records.type.num_fields)]
    columns[place] = pa.array(births)
    damaged = pa.StructArray.from_arrays(columns, fields=list(records.type))
    lists = pa.ListArray.from_arrays(
        pa.array([0, len(damaged)], pa.int32()), damaged, SCHEMA.field("records").type
    )
    with pytest.raises(ValueError, match=r"row 5.*births|births.*row 5"):
        read(stream(with_column(row, "records", lists)))


def test_other_columns_rows_and_formats_are_refused(row: pa.RecordBatch) -> None:
    with pytest.raises(ValueError, match="expected one row"):
        read(stream(row, row))
    with pytest.raises(ValueError, match="expected one row"):
        read(stream(row.slice(0, 0)))
    with pytest.raises(OtherFormatError, match="the columns of an update"):
        read(stream(row.drop_columns(["loss"])))
    other = with_column(row, "format", pa.array([updates.FORMAT + 1], pa.uint32()))
    with pytest.raises(OtherFormatError, match="format 1, found 2"):
        read(stream(other))


def test_no_damage_to_a_stream_is_more_than_an_error(sent_changes: HistoryChanges) -> None:
    few = HistoryChanges()
    few.merge(sent_changes)
    sound = bytes(update(7, sent=few.take(40)).to_stream())
    random = np.random.default_rng(1)
    refused = 0
    for place in random.choice(len(sound), 600, replace=False):
        damaged = bytearray(sound)
        damaged[place] ^= 1 << random.integers(8)
        try:
            assert isinstance(read(bytes(damaged)), Update)
        except (ValueError, OSError, pa.ArrowException):
            refused += 1
    assert refused > 50
    for length in range(0, len(sound), 97):
        with pytest.raises((ValueError, OSError, pa.ArrowException)):
            read(sound[:length])


def test_parts_of_changes_are_all_of_them(sent_changes: HistoryChanges) -> None:
    whole, merged = rows(sent_changes), HistoryChanges()
    parts = HistoryChanges()
    parts.merge(sent_changes)
    while len(parts):
        part = parts.take(100)
        assert len(part) == 100 or not len(parts)
        merged.merge(part)
    assert rows(merged) == whole
    assert pc.max(sent_changes.to_arrow()[1]["births"]).as_py() > 1
