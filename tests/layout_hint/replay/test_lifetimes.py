"""When objects live, of builds made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.layout_hint.replay.lifetimes import lifetimes
from birthmark.layout_hint.rewrite.schema import MANIFEST, OPERATIONS


def lives(folder: Path, names: list[tuple[int, bytes]], *operations: dict[str, Any]) -> Any:
    """Return born and died by object, of names in the root, and operations there."""
    path = {"path": b"", "parent": 0, "invented": False, "kind": "file"}
    before = [{"id": number, "name": name, **path} for number, name in names]
    rows = [
        {"seq": seq, "time": seq, "status": 0, "id": 0, **each}
        for seq, each in enumerate(operations)
    ]
    for name, schema, own in (
        ("manifest", MANIFEST, before),
        ("operations", OPERATIONS, rows),
    ):
        pq.write_table(pa.Table.from_pylist(own, schema), folder / f"{name}.parquet")
    table = lifetimes(folder).to_pylist()
    return {row["id"]: (row["born"], row["died"]) for row in table}


def test_creates_are_births_and_removals_deaths(tmp_path: Path) -> None:
    found = lives(
        tmp_path,
        [(1, b"a"), (2, b"b")],
        {"op": "create", "name": b"c", "new_id": 3},
        {"op": "mkdir", "name": b"d", "new_id": 4},
        {"op": "remove", "name": b"a"},
        {"op": "remove", "name": b"c"},
        {"op": "rmdir", "name": b"d", "status": 66},
    )
    assert found == {1: (None, 2), 2: (None, None), 3: (0, 3), 4: (1, None)}


def test_a_file_with_another_name_survives(tmp_path: Path) -> None:
    found = lives(
        tmp_path,
        [(1, b"a"), (1, b"also"), (2, b"b")],
        {"op": "remove", "name": b"a"},
        {"op": "link", "id": 2, "id2": 0, "name": b"hard"},
        {"op": "remove", "name": b"b"},
        {"op": "remove", "name": b"also"},
    )
    assert found == {1: (None, 3), 2: (None, None)}


def test_a_renamed_file_survives_and_the_replaced_one_dies(tmp_path: Path) -> None:
    found = lives(
        tmp_path,
        [(1, b"a"), (2, b"b")],
        {"op": "create", "name": b"t", "new_id": 3},
        {"op": "rename", "name": b"t", "id2": 0, "name2": b"a"},
        {"op": "rename", "name": b"a", "id2": 0, "name2": b"a"},
        {"op": "remove", "name": b"b"},
    )
    assert found == {1: (None, 1), 2: (None, 3), 3: (0, None)}


def test_a_create_of_what_is_there_makes_nothing(tmp_path: Path) -> None:
    found = lives(tmp_path, [(1, b"a")], {"op": "create", "name": b"a", "new_id": 1})
    assert found == {1: (None, None)}
