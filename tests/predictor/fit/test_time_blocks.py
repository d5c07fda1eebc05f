from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from birthmark.features import from_files
from birthmark.predictor import FILE_PREDICATES, NameModel, TimeBlocks
from tests.builders.lives import MONDAY, day_of_lives, files_of

SECONDS = np.array([50.0, 0, 10, 20, 30, 40, 60, 70, 80, 90])


def splits(blocks: TimeBlocks, times: object = SECONDS) -> list[tuple[list[int], list[int]]]:
    rows = np.zeros((len(SECONDS), 1))
    found = blocks.split(rows, groups=times)
    return [(sorted(learned.tolist()), tested.tolist()) for learned, tested in found]


def test_each_block_of_time_is_the_test_once_and_rows_near_it_are_left_out() -> None:
    found = splits(TimeBlocks(5, gap=10))
    assert [tested for _, tested in found] == [[1, 2], [3, 4], [0, 5], [6, 7], [8, 9]]
    assert found[0][0] == [0, 4, 5, 6, 7, 8, 9]  # all but 0 and 10 s, and 20 s, which is near
    assert found[2][0] == [1, 2, 3, 7, 8, 9]  # 40 and 50 s are the test; 30 and 60 s are near
    assert TimeBlocks(5).get_n_splits() == 5


def test_without_a_gap_rows_of_the_same_instant_are_never_on_both_sides() -> None:
    same = np.array([1.0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    for learned, tested in splits(TimeBlocks(3, gap=0), same):
        assert not set(same[learned]) & {same[tested].min(), same[tested].max()}


def test_a_model_may_learn_from_the_past_alone() -> None:
    blocks = TimeBlocks(5, gap=0, past_only=True)
    found = splits(blocks)
    assert len(found) == blocks.get_n_splits() == 4
    assert found[0] == ([1, 2], [3, 4])
    assert all(SECONDS[learned].max() < SECONDS[tested].min() for learned, tested in found)


@pytest.mark.parametrize("form", ["index", "series", "arrow", "numpy", "list"])
def test_times_are_given_in_any_form(form: str) -> None:
    stamps = [MONDAY + timedelta(seconds=second) for second in SECONDS]
    forms = {
        "index": pd.DatetimeIndex(stamps),
        "series": pd.Series(stamps, index=range(100, 110)),
        "arrow": pa.chunked_array([pa.array(stamps[:4]), pa.array(stamps[4:])]),
        "numpy": np.array([stamp.replace(tzinfo=None) for stamp in stamps], "datetime64[ns]"),
        "list": stamps,
    }
    assert splits(TimeBlocks(5, gap=10), forms[form]) == splits(TimeBlocks(5, gap=10))


def test_times_are_found_in_creates_and_in_lives() -> None:
    files = files_of(*day_of_lives(MONDAY, each=5))
    creates, blocks = from_files(files), TimeBlocks(3, gap=0)
    by_table = [tested.tolist() for _, tested in blocks.split(creates)]
    assert by_table == [tested.tolist() for _, tested in blocks.split(creates.to_pandas())]
    assert by_table == [tested.tolist() for _, tested in blocks.split(files)]
    assert sorted(row for tested in by_table for row in tested) == list(range(15))


def test_it_is_a_splitter_of_scikit_learns() -> None:
    files = files_of(*day_of_lives(MONDAY, each=20))
    creates = from_files(files).to_pandas()
    answers = FILE_PREDICATES["lock"].evaluate(files).to_numpy(zero_copy_only=False)
    blocks = TimeBlocks(4, gap=0)
    assert cross_val_score(NameModel(), creates, answers, cv=blocks).tolist() == [1.0] * 4
    search = GridSearchCV(NameModel(), {"mincount": [5, 1000]}, cv=blocks).fit(creates, answers)
    assert search.best_params_ == {"mincount": 5}
    assert cross_val_score(
        DummyClassifier(), creates[["mode"]], answers, groups=creates["time"], cv=blocks
    ).shape == (4,)
    assert repr(clone(KNeighborsClassifier()))  # its own parameters are shown like those
    assert repr(blocks) == "TimeBlocks(gap=0, n_splits=4, past_only=False)"


def test_where_a_minute_is_like_itself_folds_at_random_promise_too_much() -> None:
    """Each minute has an answer of its own, which nothing but the minute tells."""
    random = np.random.default_rng(0)
    minutes = np.repeat(np.arange(60), 20)
    answers = random.random(60)[minutes] > 0.5
    rows, times = minutes[:, None].astype(float), minutes * 60.0 + np.tile(np.arange(20), 60)
    nearest = KNeighborsClassifier(5)
    plain = cross_val_score(nearest, rows, answers, cv=KFold(5, shuffle=True, random_state=0))
    honest = cross_val_score(nearest, rows, answers, groups=times, cv=TimeBlocks(5))
    assert plain.mean() == 1
    assert honest.mean() < 0.75


@pytest.mark.parametrize(
    ("blocks", "times", "reason"),
    [
        (TimeBlocks(5, gap=1000), SECONDS, "test 1 of 5: no row is more than 1000 s from it"),
        (TimeBlocks(5, gap=20, past_only=True), SECONDS, "test 2 .* s before it: expected a sma"),
        (TimeBlocks(11), SECONDS, "expected 11 rows or more, found 10"),
        (TimeBlocks(2), [None, *SECONDS[1:]], "found rows without one"),
        (TimeBlocks(2), None, "expected a column time or born, or groups: the times"),
    ],
)
def test_rows_that_cannot_be_split_are_refused(
    blocks: TimeBlocks, times: object, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        splits(blocks, times)


@pytest.mark.parametrize("wrong", [{"n_splits": 1}, {"gap": -1}])
def test_its_parameters_have_their_ranges(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected 2 blocks or more and a gap from 0"):
        TimeBlocks(**wrong)
