"""Tests also features/."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.features import HISTORY_BYTES, from_requests
from birthmark.features.encoding import (
    CODED,
    CODES,
    COLUMNS,
    FREQUENT,
    NULL,
    NUMBERS,
    UNSEEN,
    Encoding,
)
from birthmark.features.history import shape
from birthmark_native import fnv1a

NOON = datetime.datetime(2001, 10, 22, 12, 59, tzinfo=datetime.UTC)


def creates(*rows: dict[str, object]) -> pa.Table:
    return from_requests([{"name": b"x", **row} for row in rows])


def encoded(table: pa.Table, encoding: Encoding | None = None) -> dict[str, list[int]]:
    matrix = (encoding or Encoding.learn(table)).transform(table)
    assert matrix.shape == (len(table), len(COLUMNS))
    assert matrix.dtype == np.uint8
    return dict(zip(COLUMNS, matrix.T.tolist(), strict=True))


def test_a_row_is_history_numbers_codes_and_hour():
    assert len(COLUMNS) == HISTORY_BYTES + len(NUMBERS) + len(CODED) + 1
    history = bytes(range(HISTORY_BYTES))
    found = encoded(creates({"history": history, "time": NOON}, {}))
    every = list(found.values())
    assert [column[0] for column in every[:HISTORY_BYTES]] == list(history)
    assert [column[1] for column in every[:HISTORY_BYTES]] == [0] * HISTORY_BYTES
    assert found["hour"] == [12, 24]


def test_a_history_of_another_length_is_refused():
    table = creates({})
    place = table.column_names.index("history")
    table = table.set_column(place, "history", pa.array([b"short"], pa.binary()))
    with pytest.raises(ValueError, match=f"history: expected {HISTORY_BYTES} bytes, found 5"):
        Encoding.learn(table).transform(table)


def test_frequent_values_have_codes_by_their_number_and_others_share_one():
    rows = [{"uid": 7}] * FREQUENT + [{"uid": 9}] * (FREQUENT + 1) + [{"uid": 8}, {}]
    encoding = Encoding.learn(creates(*rows))
    found = encoded(creates({"uid": 9}, {"uid": 7}, {"uid": 8}, {"uid": 4242}, {}), encoding)
    assert found["uid"] == [2, 3, UNSEEN, UNSEEN, NULL]


def test_values_equally_frequent_are_in_order_and_only_so_many_have_a_code():
    rows = [{"gid": gid} for gid in range(999, 599, -1) for _ in range(FREQUENT)]
    encoding = Encoding.learn(creates(*rows))
    assert encoding.values["gid"].to_pylist() == list(range(600, 600 + 254))


def test_clients_shapes_and_suffixes_go_by_their_hashes():
    rows = [{"name": b"cache%X.gif" % (n + 0x1000), "client": "127.0.0.1"} for n in range(9)]
    encoding = Encoding.learn(creates(*rows))
    assert encoding.values["client"].to_pylist() == [fnv1a(b"127.0.0.1")]
    assert fnv1a(b"foobar") == 0xBF9CF968  # test vector of the hash's authors
    assert encoding.values["shape"].to_pylist() == [fnv1a(b"cach#.gif")]
    assert encoding.values["suffix"].to_pylist() == [fnv1a(b".gif")]
    found = encoded(creates({"name": b"other.gif", "client": "127.0.0.2"}), encoding)
    assert (found["client"], found["shape"], found["suffix"]) == ([UNSEEN], [UNSEEN], [2])


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=5))
def test_the_numbers_of_a_name_are_what_they_are_called(names):
    found = encoded(creates(*({"name": name} for name in names)))
    for place, name in enumerate(names):
        digits, hexadecimal = b"0123456789", b"0123456789abcdefABCDEF"
        capitals = bytes(range(65, 91))
        plain = digits + capitals + bytes(range(97, 123)) + b"."
        dot = name.rfind(b".")
        expected = {
            "length": len(name),
            "periods": name.count(b"."),
            "digits": sum(byte in digits for byte in name),
            "capitals": sum(byte in capitals for byte in name),
            "signs": sum(byte not in plain for byte in name),
            "digit run": longest(name, digits),
            "hex run": longest(name, hexadecimal),
            "suffix length": 0 if dot < 0 else len(name) - dot,
            "first byte": name[0] if name else 0,
            "last byte": name[-1] if name else 0,
            "random word": int(b"@" not in name and b"@" in shape(pa.array([name]))[0].as_py()),
        }
        if b"@" in name:
            del expected["random word"]
        assert {number: found[number][place] for number in expected} == expected


def longest(name: bytes, wanted: bytes) -> int:
    return max(len(run) for run in bytes(b if b in wanted else 0 for b in name).split(b"\0"))


def test_lengths_end_at_255():
    found = encoded(creates({"name": b"7" * 300}, {"name": b"7" * 255}))
    assert found["length"] == found["digit run"] == [255, 255]


def test_codes_are_saved_in_a_table():
    rows = [{"uid": uid, "mode": 0o600} for uid in (1, 2, 2) for _ in range(FREQUENT)]
    table = creates(*rows)
    saved = Encoding.learn(table).to_table()
    assert saved.schema.equals(CODES)
    again = Encoding.from_table(saved)
    assert np.array_equal(again.transform(table), Encoding.learn(table).transform(table))


def test_a_table_of_invalid_codes_is_refused():
    saved = Encoding.learn(creates(*[{"uid": 1}] * FREQUENT)).to_table()
    of_uid = {"attribute": "uid", "value": 5, "code": 9}
    for rows, reason in (
        ([of_uid], "codes of uid are not 2, 3"),
        ([{**of_uid, "code": code} for code in (2, 3)], "a value of uid has two codes"),
    ):
        damaged = pa.Table.from_pylist(rows, schema=saved.schema)
        with pytest.raises(ValueError, match=reason):
            Encoding.from_table(damaged)


def test_no_creates_make_no_rows():
    assert Encoding.learn(creates()).transform(creates()).shape == (0, len(COLUMNS))
