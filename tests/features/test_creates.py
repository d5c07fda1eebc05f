from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES, NAMES
from birthmark.features import (
    CREATES,
    HISTORY_BYTES,
    History,
    from_files,
    from_names,
    from_requests,
)
from birthmark.features.creates import of_names
from tests.builders.lives import MONDAY, day_of_lives, files_of, table

BORN = datetime.datetime(2001, 10, 22, 10, 0, tzinfo=datetime.UTC)
KNOWN = {
    "name": b"inbox.lock",
    "dir_fh": b"\x01\x02",
    "dir_name": b"mail",
    "mode": 0o600,
    "uid": 501,
    "gid": 20,
    "group": 6,
    "client": "10.0.0.1",
    "time": BORN,
    "history": bytes(range(100)) + bytes(HISTORY_BYTES - 100),
}


HISTORY = pa.field("history", pa.binary())


def life(schema: pa.Schema, **values: object) -> pa.Table:
    """Return one row: what is not given is null, even where the schema forbids it."""
    return table(schema.append(HISTORY) if "history" in values else schema, [values])


def born(known: dict[str, object]) -> dict[str, object]:
    return {("born" if key == "time" else key): value for key, value in known.items()}


def test_a_file_life_and_a_request_with_the_same_facts_are_the_same_create():
    from_life = from_files(life(FILES, **born(KNOWN)))
    assert from_life.schema.equals(CREATES, check_metadata=True)
    assert from_life.equals(from_requests([KNOWN]))
    assert from_life.to_pylist() == [KNOWN | {"name_history": None}]


def test_a_name_life_and_a_request_with_the_same_facts_are_the_same_create():
    known = {key: value for key, value in KNOWN.items() if key not in ("dir_name", "group")}
    assert from_names(life(NAMES, **born(known))).equals(from_requests([known]))


def test_nothing_that_is_learned_after_the_create_changes_it():
    later = {
        "max_size": 8192,
        "last_size": 4096,
        "reads": 3,
        "writes": 2,
        "bytes_read": 1,
        "bytes_written": 9,
        "operations": 12,
        "atime": BORN,
        "mtime": BORN,
        "died": BORN,
        "death_seen": True,
        "how_died": "remove",
        "last_seen": BORN,
        "observed_until": BORN,
        "owner": 7,
        "early_size": 100,
        "early_reads": 1,
        "early_writes": 1,
        "early_atime": BORN,
        "early_mtime": BORN,
    }
    plain = from_files(life(FILES, **born(KNOWN)))
    assert from_files(life(FILES, **born(KNOWN), **later)).equals(plain)
    for column in later:
        with pytest.raises(ValueError, match=f"request 0 has '{column}', which is not known"):
            from_requests([KNOWN | {column: later[column]}])


def test_the_columns_are_those_that_design_allows():
    shown = {"name", "dir_fh", "dir_name", "mode", "uid", "gid", "group", "client", "time"}
    assert set(CREATES.names) == shown | {"history", "name_history"}


def test_the_history_of_a_table_without_one_is_unknown():
    known = {key: value for key, value in KNOWN.items() if key != "history"}
    missing = {"history": None, "name_history": None}
    assert from_files(life(FILES, **born(known))).to_pylist() == [KNOWN | missing]


def test_a_history_is_followed_where_one_is_passed():
    lives = files_of(*day_of_lives(MONDAY, each=3))
    creates = from_files(lives, History())
    assert creates["history"].to_pylist() == History().follow(lives).to_pylist()
    assert creates["history"].null_count == 0
    with pytest.raises(ValueError, match="history: expected none"):
        from_files(lives.append_column("history", creates["history"]), History())


def test_predicates_about_names_see_the_history_of_names():
    one, other = bytes(HISTORY_BYTES), bytes([1]) * HISTORY_BYTES
    requests = [{"name": b"a", "history": one}, {"name": b"a", "name_history": other}]
    creates = from_requests([*requests, requests[0] | requests[1], {"name": b"a"}])
    assert of_names(creates)["history"].to_pylist() == [one, other, other, None]
    assert of_names(creates).schema == creates.schema


def test_missing_members_of_a_request_are_null():
    (create,) = from_requests([{"name": "café"}]).to_pylist()
    assert create == dict.fromkeys(CREATES.names) | {"name": "café".encode()}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({}, "request 1 has no name"),
        ({"name": None}, "request 1 has no name"),
        ({"name": b"a", "mode": -1}, "mode: .*uint32"),
        ({"name": b"a", "uid": "root"}, "uid: .*uint32"),
        ({"name": 7}, "name: .*binary"),
        ({"name": b"a", "history": b"a"}, f"request 1: history: expected {HISTORY_BYTES} bytes"),
        ({"name": b"a", "history": 7}, f"request 1: history: expected {HISTORY_BYTES} bytes"),
    ],
)
def test_a_bad_request_is_named(request_, message):
    with pytest.raises(ValueError, match=message):
        from_requests([{"name": b"a"}, request_])
