from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from birthmark.features import NamePieces, from_requests, name_pieces


def pieces(name: bytes | None) -> tuple[bytes | None, ...]:
    split = name_pieces(pa.array([name], pa.binary()))
    return tuple(split[piece][0].as_py() for piece in ("first", "middle", "last"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"core", (b"core", None, None)),
        (b"prediction.tex", (b"prediction", None, b"tex")),
        (b"a.b.c.d", (b"a", b"b.c", b"d")),
        (b".cshrc", (b"", None, b"cshrc")),
        (b"a.", (b"a", None, b"")),
        (b"a..b", (b"a", b"", b"b")),
        (b"", (b"", None, None)),
        (None, (None, None, None)),
    ],
)
def test_a_name_is_cut_at_its_first_and_last_period(name, expected):
    assert pieces(name) == expected


@settings(deadline=None)
@given(st.binary(max_size=20) | st.text("a.\n", max_size=8).map(str.encode))
def test_the_pieces_joined_by_periods_are_the_name(name):
    assert b".".join(piece for piece in pieces(name) if piece is not None) == name


def creates() -> pa.Table:
    return from_requests(
        [
            {"name": b"inbox.lock", "mode": 0o600, "uid": 501, "gid": 20},
            {"name": b"core", "uid": 0},
        ]
    )


def test_an_arrow_table_becomes_an_arrow_table():
    table = NamePieces().fit_transform(creates())
    assert table.column_names == ["first", "middle", "last", "mode", "uid", "gid"]
    assert list(NamePieces().fit(creates()).get_feature_names_out()) == table.column_names
    assert table.to_pylist()[1] == {
        "first": b"core",
        "middle": None,
        "last": None,
        "mode": None,
        "uid": 0,
        "gid": None,
    }


def test_a_data_frame_keeps_its_index_and_its_missing_values():
    frame = creates().to_pandas().set_index(pd.Index(["x", "y"]))
    out = NamePieces().set_output(transform="pandas").fit_transform(frame)
    assert list(out.index) == ["x", "y"]
    assert out.loc["x", "last"] == b"lock"
    assert pd.isna(out.loc["y", "mode"])


def test_an_array_has_the_name_in_its_first_column():
    out = NamePieces().fit_transform(np.array([["a.b", 1], ["c", 2]], dtype=object))
    assert out.tolist() == [[b"a", None, b"b", 1], [b"c", None, None, 2]]


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="the table has no column 'gid': it has name, mode, uid"):
        NamePieces().fit(creates().select(["name", "mode", "uid"]))


@pytest.mark.parametrize("rows", [[0], [1], [1, 0]])
def test_a_row_does_not_depend_on_the_others_nor_on_pickling(rows):
    pieces = pickle.loads(pickle.dumps(NamePieces().fit(creates())))
    assert pieces.transform(creates().take(rows)).equals(pieces.transform(creates()).take(rows))


NUMBERS = "it compares outputs as numbers, and pieces of names are bytes"
EXCEPTIONS = dict.fromkeys(
    [
        "check_estimators_pickle",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_pipeline_consistency",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
    ],
    NUMBERS,
)


@parametrize_with_checks([NamePieces()], expected_failed_checks=lambda _: EXCEPTIONS)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
