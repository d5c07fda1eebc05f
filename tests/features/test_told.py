from __future__ import annotations

from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from birthmark.features import CREATES, HISTORY, HISTORY_BYTES, from_requests
from birthmark.features.encoding import COLUMNS, Encoding, forget, keep_names
from birthmark.features.history import History
from birthmark.features.told import TOLD, Told, forgotten, told_of
from birthmark_native import (
    BM_TELLS_CALLER,
    BM_TELLS_DIRECTORY,
    BM_TELLS_NAME,
    BM_TOLD,
    BM_TOLD_CALLER,
    BM_TOLD_DIRECTORY,
    BM_TOLD_NAME,
    BM_TOLD_NOTHING,
)

CREATE = {"name": b"a.lock", "uid": 1, "gid": 2, "mode": 0o600, "client": "10.0.0.1"}


def test_the_bytes_that_tell_are_those_of_what_is_known() -> None:
    names = [name for name, _ in HISTORY]
    tells = {"dir": BM_TELLS_DIRECTORY, "user_suffix": BM_TELLS_CALLER, "name": BM_TELLS_NAME}
    assert {names[byte]: key for key, byte in tells.items()} == {
        f"{key}.known": key for key in tells
    }
    places = [BM_TOLD_DIRECTORY, BM_TOLD_CALLER, BM_TOLD_NAME, BM_TOLD_NOTHING]
    assert [TOLD[place] for place in places] == ["directory", "caller", "name", "nothing"]
    assert len(TOLD) == BM_TOLD


def told_to(**create: object) -> pa.Table:
    """Return a create with the history that one who never saw any tells of it."""
    asked = from_requests([create])
    place = asked.schema.get_field_index("history")
    return asked.set_column(place, "history", History().at(asked))


def test_what_is_told_follows_from_what_is_known_though_nothing_was_born_yet() -> None:
    found = [
        told_to(**CREATE, dir_fh=b"handle", dir_name=b"mail"),
        told_to(**CREATE),
        told_to(name=b"a.lock", client="10.0.0.1"),
        from_requests([{**CREATE, "dir_fh": b"handle"}]),
    ]
    assert [TOLD[told_of(create)[0]] for create in found] == list(TOLD)


def test_of_a_directory_without_a_user_only_the_name_counts() -> None:
    create = told_to(name=b"a.lock", dir_fh=b"handle")
    assert TOLD[told_of(create)[0]] == "name"


@pytest.mark.parametrize("told", get_args(Told))
def test_who_forgets_is_told_no_more_and_knows_no_more(told: Told) -> None:
    whole = told_to(**CREATE, dir_fh=b"handle", dir_name=b"mail")
    less = forgotten(pa.concat_tables([whole, whole]), told)
    assert less.schema == CREATES
    assert [TOLD[place] for place in told_of(less).tolist()] == [told, told]
    (row, _) = less.to_pylist()
    assert row["name"] == b"a.lock"
    assert (row["dir_fh"] is None) == (told != "directory")
    assert (row["client"] is None) == (told in ("name", "nothing"))
    assert (row["uid"] is None) == (told == "name")
    assert (row["history"] is None) == (told == "nothing")
    assert forgotten(whole, "directory").equals(whole)


@pytest.mark.parametrize("told", get_args(Told))
def test_rows_of_bytes_forget_as_creates_do(told: Told) -> None:
    chance = np.random.default_rng(3)
    creates = from_requests(
        [
            CREATE | {"history": chance.integers(1, 256, HISTORY_BYTES, np.uint8).tobytes()}
            for _ in range(20)
        ]
    )
    encoding = Encoding.learn(creates)
    rows = encoding.transform(creates)
    assert len(COLUMNS) > len(HISTORY)
    forget(rows, told)
    assert np.array_equal(rows, encoding.transform(forgotten(creates, told)))


def test_of_a_create_that_is_known_by_its_name_alone_rows_hold_only_that() -> None:
    creates = from_requests([CREATE] * 6)
    encoding = Encoding.learn(from_requests([CREATE] * 20))
    rows, some = encoding.transform(creates), np.arange(6) % 3 == 0
    by_name = from_requests([{"name": CREATE["name"]}] * 6)
    expected = np.where(some[:, None], encoding.transform(by_name), rows)
    assert not np.array_equal(expected, rows)
    keep_names(rows, some)
    assert np.array_equal(rows, expected)


@pytest.mark.parametrize("told", get_args(Told))
def test_rows_of_bytes_forget_what_was_told_alone_where_all_else_is_known(told: Told) -> None:
    chance = np.random.default_rng(3)
    rows = chance.integers(2, 256, (20, len(COLUMNS))).astype(np.uint8)
    known = np.arange(20) % 2 == 1
    some, lacking = rows.copy(), rows.copy()
    forget(some, told, still_known=known)
    forget(lacking, told)
    assert np.array_equal(some[~known], lacking[~known])
    assert np.array_equal(some[known, HISTORY_BYTES:], rows[known, HISTORY_BYTES:])
    assert np.array_equal(some[:, :HISTORY_BYTES], lacking[:, :HISTORY_BYTES])
