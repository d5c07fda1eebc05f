"""The calls of a dataset, in the order in which they came."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.storage.what_if.calls import read, survey
from birthmark.storage.what_if.columns import CALLS, CLASSES, UNKNOWN
from tests.builders.served import dataset, operations


def calls(*rows: tuple[int, int | None, str, int]) -> pa.RecordBatch:
    """Return calls: when they came and were answered (μs), what they ask for, and of which file."""
    columns = {
        "at": [at * 1000 for at, *_ in rows],
        "replied": [UNKNOWN if own[1] is None else own[1] * 1000 for own in rows],
        "stream": [own[3] % 2 for own in rows],
        "connection": [own[3] % 2 for own in rows],
        "class": [CLASSES.index(own[2]) for own in rows],
        "file": [own[3] for own in rows],
        **{name: [0] * len(rows) for name in ("target", "directory", "hints")},
        "offset": [4096] * len(rows),
        "bytes": [100 if own[2] in ("read", "write") else 0 for own in rows],
        "end": [UNKNOWN] * len(rows),
        "stable": [0] * len(rows),
    }
    return pa.RecordBatch.from_pydict(columns, schema=CALLS)


def test_calls_come_in_their_own_order_whatever_that_of_the_replies(tmp_path: Path) -> None:
    rows = [(0, 900, "write", 7), (100, 150, "lookup", 8), (200, 210, "read", 7)]
    found = survey(dataset(tmp_path / "d", operations(calls(*rows))))
    assert (found.rows, found.replied, found.server) == (3, 3, "10.0.0.1")
    (batch,) = read(found)
    assert batch.schema == CALLS
    assert batch["at"].to_pylist() == [0, 100_000, 200_000]
    assert batch["replied"].to_pylist() == [900_000, 150_000, 210_000]
    assert [CLASSES[own] for own in batch["class"].to_pylist()] == ["write", "lookup", "read"]
    file = batch["file"].to_pylist()
    assert file[0] == file[2] != file[1]
    assert batch["bytes"].to_pylist() == [100, 0, 100]


def test_the_parts_of_an_ingest_are_read_in_their_order(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "d", operations(calls((0, 10, "read", 1), (50, 60, "read", 1))))
    (whole,) = (path for path in folder.rglob("*.parquet") if "operations" in path.parts)
    record = folder / "ingests" / "0001.json"
    rows, parts = pq.read_table(whole), ["0001.parquet", "0001-2.parquet", "0001-10.parquet"]
    for at, name in enumerate(parts):
        pq.write_table(rows.slice(min(at, 1), 1), whole.with_name(name))
    result = json.loads(record.read_text())
    place = whole.relative_to(folder).as_posix()
    others = [place.replace("0001.parquet", name) for name in parts[1:]]
    record.write_text(json.dumps(result | {"written": [*result["written"], *others]}))
    assert [path.name for path in survey(folder).paths] == parts


def test_half_is_when_half_of_the_calls_had_come(tmp_path: Path) -> None:
    rows = [(10 * at, 10 * at + 5, "lookup", 1) for at in range(10)] + [(9_000, 9_001, "read", 1)]
    found = survey(dataset(tmp_path / "d", operations(calls(*rows))))
    assert found.half == 50_000


def test_keeps_and_counts_calls_without_a_reply(tmp_path: Path) -> None:
    rows = [(0, None, "read", 1), (10, 30, "read", 1), (20, 40, "read", 2)]
    found = survey(dataset(tmp_path / "d", operations(calls(*rows))))
    assert (found.rows, found.replied) == (3, 2)
    replied = np.concatenate([batch["replied"].to_numpy() for batch in read(found)])
    assert (replied == UNKNOWN).tolist() == [True, False, False]


def test_a_trace_without_replies_is_refused(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "d", operations(calls((0, None, "read", 1))))
    with pytest.raises(ValueError, match=r"d: expected calls with replies, found 1 without any"):
        survey(folder)


def test_a_clock_that_was_set_back_is_refused_with_its_row(tmp_path: Path) -> None:
    good = operations(calls((0, 10, "read", 1), (5_000_000, 5_000_010, "read", 1)))
    back = operations(calls((1_000_000, 1_000_050, "read", 1)))
    folder = dataset(tmp_path / "d", good, back)
    with pytest.raises(ValueError, match=r"\.parquet: row 3: .* was the clock set back\?"):
        survey(folder)


def test_a_reply_before_its_call_is_refused_with_its_row(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "d", operations(calls((0, 10, "read", 1), (50, 20, "read", 1))))
    with pytest.raises(ValueError, match=r"row 2: expected times that ascend"):
        survey(folder)


def test_of_several_servers_one_has_to_be_named(tmp_path: Path) -> None:
    one = operations(calls((0, 10, "read", 1)))
    other = operations(calls((0, 10, "read", 1), (20, 30, "read", 1)), "10.0.0.2")
    folder = dataset(tmp_path / "d", one, other)
    with pytest.raises(ValueError, match=r"expected --server, one of: 10\.0\.0\.1, 10\.0\.0\.2"):
        survey(folder)
    with pytest.raises(ValueError, match=r"10\.0\.0\.3 is not among them"):
        survey(folder, "10.0.0.3")
    assert survey(folder, "10.0.0.2").rows == 2


def test_an_empty_dataset_is_refused_as_empty(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the dataset is empty: expected operations"):
        survey(dataset(tmp_path / "d"))


def test_a_compound_is_one_call_what_its_main_operation_is(tmp_path: Path) -> None:
    kinds = ["other", "getattr", "read", "other"]
    batch = operations(calls(*((0, 10, kind, 4) for kind in kinds), (20, 30, "getattr", 4)))
    same = {"version": pa.array([4] * 5, pa.uint8()), "xid": pa.array([9] * 4 + [10], pa.uint32())}
    for name, column in same.items():
        batch = batch.set_column(
            batch.schema.get_field_index(name), batch.schema.field(name), column
        )
    (found,) = read(survey(dataset(tmp_path / "d", batch)))
    assert [CLASSES[own] for own in found["class"].to_pylist()] == ["read", "getattr"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda rows: rows.drop_columns(["op"]), "column op: expected .*, found none"),
        (
            lambda rows: rows.set_column(0, "time", pa.array([b"x"] * len(rows))),
            "column time: expected",
        ),
    ],
)
def test_a_file_with_other_columns_is_refused(
    tmp_path: Path, change: Callable[[pa.Table], pa.Table], expected: str
) -> None:
    folder = dataset(tmp_path / "d", operations(calls((0, 10, "read", 1))))
    (path,) = (path for path in folder.rglob("*.parquet") if "operations" in path.parts)
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(ValueError, match=f"{path.name}: {expected}"):
        survey(folder)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "d", operations(calls((0, 10, "read", 1))))
    (path,) = (path for path in folder.rglob("*.parquet") if "operations" in path.parts)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ValueError, match=f"{path}: expected an intact Parquet file: "):
        survey(folder)
