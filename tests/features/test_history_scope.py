from __future__ import annotations

from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from birthmark.features import CREATES, HISTORY, HISTORY_BYTES, from_requests
from birthmark.features.encoding import COLUMNS, Encoding, mask_attributes, mask_rows
from birthmark.features.history import History
from birthmark.features.history_scope import (
    HISTORY_SCOPES,
    HistoryScope,
    history_scopes,
    mask_history,
)
from birthmark_native import (
    BM_SCOPE_CALLER,
    BM_SCOPE_DIRECTORY,
    BM_SCOPE_NAME,
    BM_SCOPE_NOTHING,
    BM_SCOPES,
    BM_TELLS_CALLER,
    BM_TELLS_DIRECTORY,
    BM_TELLS_NAME,
)

CREATE = {"name": b"a.lock", "uid": 1, "gid": 2, "mode": 0o600, "client": "10.0.0.1"}


def test_the_bytes_that_reveal_the_scope_are_counts_of_known_outcomes() -> None:
    names = [name for name, _ in HISTORY]
    tells = {"dir": BM_TELLS_DIRECTORY, "user_suffix": BM_TELLS_CALLER, "name": BM_TELLS_NAME}
    assert {names[byte]: key for key, byte in tells.items()} == {
        f"{key}.known": key for key in tells
    }
    places = [BM_SCOPE_DIRECTORY, BM_SCOPE_CALLER, BM_SCOPE_NAME, BM_SCOPE_NOTHING]
    assert [HISTORY_SCOPES[place] for place in places] == ["directory", "caller", "name", "nothing"]
    assert len(HISTORY_SCOPES) == BM_SCOPES


def with_history(**create: object) -> pa.Table:
    """Return a create with its history in an empty `History`."""
    asked = from_requests([create])
    place = asked.schema.get_field_index("history")
    return asked.set_column(place, "history", History().at(asked))


def test_the_scope_follows_from_the_known_columns_even_without_births() -> None:
    found = [
        with_history(**CREATE, dir_fh=b"handle", dir_name=b"mail"),
        with_history(**CREATE),
        with_history(name=b"a.lock", client="10.0.0.1"),
        from_requests([{**CREATE, "dir_fh": b"handle"}]),
    ]
    assert [HISTORY_SCOPES[history_scopes(create)[0]] for create in found] == list(HISTORY_SCOPES)


def test_without_a_user_a_directory_does_not_count() -> None:
    create = with_history(name=b"a.lock", dir_fh=b"handle")
    assert HISTORY_SCOPES[history_scopes(create)[0]] == "name"


@pytest.mark.parametrize("scope", get_args(HistoryScope))
def test_masked_creates_have_no_more_history_and_columns(scope: HistoryScope) -> None:
    whole = with_history(**CREATE, dir_fh=b"handle", dir_name=b"mail")
    less = mask_history(pa.concat_tables([whole, whole]), scope)
    assert less.schema == CREATES
    assert [HISTORY_SCOPES[place] for place in history_scopes(less).tolist()] == [scope, scope]
    (row, _) = less.to_pylist()
    assert row["name"] == b"a.lock"
    assert (row["dir_fh"] is None) == (scope != "directory")
    assert (row["client"] is None) == (scope in ("name", "nothing"))
    assert (row["uid"] is None) == (scope == "name")
    assert (row["history"] is None) == (scope == "nothing")
    assert mask_history(whole, "directory").equals(whole)


@pytest.mark.parametrize("scope", get_args(HistoryScope))
def test_masking_rows_equals_masking_creates(scope: HistoryScope) -> None:
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
    mask_rows(rows, scope)
    assert np.array_equal(rows, encoding.transform(mask_history(creates, scope)))


def test_masking_attributes_leaves_only_the_name() -> None:
    creates = from_requests([CREATE] * 6)
    encoding = Encoding.learn(from_requests([CREATE] * 20))
    rows, some = encoding.transform(creates), np.arange(6) % 3 == 0
    by_name = from_requests([{"name": CREATE["name"]}] * 6)
    expected = np.where(some[:, None], encoding.transform(by_name), rows)
    assert not np.array_equal(expected, rows)
    mask_attributes(rows, some)
    assert np.array_equal(rows, expected)


@pytest.mark.parametrize("scope", get_args(HistoryScope))
def test_only_the_history_is_masked_where_attributes_are_still_known(
    scope: HistoryScope,
) -> None:
    chance = np.random.default_rng(3)
    rows = chance.integers(2, 256, (20, len(COLUMNS))).astype(np.uint8)
    known = np.arange(20) % 2 == 1
    some, lacking = rows.copy(), rows.copy()
    mask_rows(some, scope, still_known=known)
    mask_rows(lacking, scope)
    assert np.array_equal(some[~known], lacking[~known])
    assert np.array_equal(some[known, HISTORY_BYTES:], rows[known, HISTORY_BYTES:])
    assert np.array_equal(some[:, :HISTORY_BYTES], lacking[:, :HISTORY_BYTES])
