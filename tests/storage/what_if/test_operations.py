"""Calls of operations: what they are about besides the file that they name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from birthmark.storage.what_if.calls import read, survey
from birthmark.storage.what_if.columns import CALLS, CLASSES, UNKNOWN
from birthmark.storage.what_if.operations import Numbers
from tests.builders.served import dataset, lives, operations


def calls_of(
    folder: Path, rows: list[dict[str, int | str]], *files: dict[str, int]
) -> pa.RecordBatch:
    """Return the calls that a dataset of some calls has, each answered 5 μs after it came."""
    table = [
        dict.fromkeys(CALLS.names, 0)
        | {"at": at * 10_000, "replied": at * 10_000 + 5_000, "end": UNKNOWN}
        | {"class": CLASSES.index(str(row["op"]))}
        | {name: value for name, value in row.items() if name != "op"}
        for at, row in enumerate(rows)
    ]
    made = operations(pa.RecordBatch.from_pylist(table, schema=CALLS))
    (found,) = read(survey(dataset(folder, made, files=lives(*files) if files else None)))
    return found


def test_a_name_leads_to_a_file_and_a_removal_to_what_died_of_it(tmp_path: Path) -> None:
    rows: list[dict[str, int | str]] = [
        {"op": "create", "file": 1, "target": 2},
        {"op": "lookup", "file": 1, "target": 3, "directory": 1},
        {"op": "write", "file": 2},
        {"op": "rename", "file": 1},
        {"op": "remove", "file": 3},
        {"op": "remove", "file": 1},
    ]
    died = [{"fh": 2, "died": 35}, {"fh": 4, "died": 45}]
    found = calls_of(tmp_path / "d", rows, *died)
    file, target = found["file"].to_pylist(), found["target"].to_pylist()
    assert target[0] == file[2] == target[3]
    assert target[1] == file[4] != target[0]
    assert target[4] not in (0, *file)
    assert target[5] == target[2] == 0, "what died was not seen"
    assert found["directory"].to_pylist()[:2] == [0, 1]


def test_a_number_is_removed_with_its_value_and_not_given_again() -> None:
    numbers = Numbers()
    assert numbers.of(pa.array([b"x", None, b"y", b"x"])).tolist() == [1, 0, 2, 1]
    numbers.forget(pa.array([b"x", b"never met"]))
    assert numbers.of(pa.array([b"y", b"x"])).tolist() == [2, 3]


def test_a_file_is_cut_only_by_calls_that_set_its_length(tmp_path: Path) -> None:
    rows: list[dict[str, int | str]] = [
        {"op": "setattr", "file": 1, "end": 100},
        {"op": "setattr", "file": 1},
        {"op": "getattr", "file": 1, "end": 50},
    ]
    assert calls_of(tmp_path / "d", rows)["end"].to_pylist() == [100, UNKNOWN, 50]
    table = operations(pa.RecordBatch.from_pylist([_row(60)], schema=CALLS))
    place = table.schema.get_field_index("set_size")
    end_only = table.set_column(place, "set_size", pa.nulls(1, pa.uint64()))
    (found,) = read(survey(dataset(tmp_path / "e", end_only)))
    assert found["end"].to_pylist() == [UNKNOWN], "a reply that tells a length sets none"


def _row(end: int) -> dict[str, int]:
    row = dict.fromkeys(CALLS.names, 0)
    return row | {"class": CLASSES.index("setattr"), "replied": 5_000, "file": 1, "end": end}


def test_distinguishes_connections_by_client(tmp_path: Path) -> None:
    rows: list[dict[str, int | str]] = [
        {"op": "getattr", "file": 1, "connection": own, "stream": user}
        for own, user in [(1, 1), (2, 1), (1, 2)]
    ]
    found = calls_of(tmp_path / "d", rows)
    connections, streams = found["connection"].to_pylist(), found["stream"].to_pylist()
    assert connections[0] == connections[2] != connections[1]
    assert len(set(streams)) == 3
