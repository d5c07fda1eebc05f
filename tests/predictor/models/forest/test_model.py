from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from birthmark.features import HISTORY, HISTORY_BYTES, from_requests
from birthmark.features.encoding import COLUMNS, FIRST, mask_rows
from birthmark.predictor.models.forest import again
from birthmark.predictor.models.forest.again import AGAIN
from birthmark.predictor.models.forest.estimator import ForestModel
from birthmark.predictor.models.forest.model import IDLE, shared

SMALL = ForestModel(trees=5)


def creates(count: int = 200) -> pa.Table:
    names = [b"%d.lock" % n if n % 2 else b"page%d.html" % n for n in range(count)]
    return from_requests([{"name": name, "uid": n % 7} for n, name in enumerate(names)])


def test_it_distinguishes_files_by_their_attributes():
    labels = np.arange(200) % 2 == 1
    model = clone(SMALL).fit(creates(), labels)
    assert np.array_equal(model.predict(creates()), labels)
    new = from_requests([{"name": b"987654.lock"}, {"name": b"page987654.html"}])
    assert model.predict(new).tolist() == [True, False]


def test_one_seed_makes_one_model():
    labels = np.random.default_rng(0).random(200) < 0.3
    first, second, other = (
        ForestModel(trees=5, seed=seed).fit(creates(), labels).predict_proba(creates())
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="the table has no column 'uid'"):
        SMALL.fit(creates().drop_columns("uid"), [True] * 200)


def noise(rows: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(3)
    matrix = chance.integers(0, 256, (rows, len(COLUMNS))).astype(np.uint8)
    return matrix, chance.random((rows, outputs)) < 0.5


@pytest.mark.deep
@pytest.mark.parametrize("outputs", [1, 9])
def test_it_fits_in_the_kilobytes_allowed(outputs):
    matrix, answers = noise(6000, outputs)
    whole = ForestModel(trees=8, leaf_rows=1, kilobytes=4096).grow(matrix, answers)
    assert whole.compiled_bytes > 8 * 1024 * outputs
    small = ForestModel(trees=8, leaf_rows=1, kilobytes=8).grow(matrix, answers)
    assert 6 * 1024 * outputs < small.compiled_bytes <= 8 * 1024 * outputs


def test_each_tree_is_grown_on_no_more_rows_than_allowed():
    forest = ForestModel(trees=3, rounds=2, rows_per_tree=100).grow(*noise(1000, 2))
    assert forest.rows.sum() == (3 + 2) * 100
    assert len(forest.roots) == 3 + 2


def test_trees_that_correct_others_make_it_better():
    matrix, answers = noise(3000, 3)
    answers = (matrix[:, 100:103].astype(int) + matrix[:, 103:106] + matrix[:, 120:121]) > 380
    wrong = [
        np.mean((forest.predict(matrix[2000:]) - answers[2000:]) ** 2)
        for rounds in (0, 60)
        for forest in [ForestModel(trees=8, rounds=rounds).grow(matrix[:2000], answers[:2000])]
    ]
    assert wrong[1] < 0.95 * wrong[0]


@pytest.mark.deep
def test_an_unknown_history_is_not_taken_for_an_empty_one(monkeypatch):
    matrix, _ = noise(4000, 1)
    new, byte = matrix[:, :HISTORY_BYTES], COLUMNS.index("last byte")
    new[::2] = 0
    new[::2, 1] = 1  # one byte tells that the first of its kind is meant
    answers = (matrix[:, byte] > 127) | (new[:, 1] == 1)
    unknown = matrix[:400].copy()
    mask_rows(unknown, "nothing")
    grown = []
    monkeypatch.setattr(again, "UNSEEN_SHARE", 0)
    for shares in (AGAIN, {}):
        monkeypatch.setattr(again, "AGAIN", shares)
        grown.append(ForestModel(trees=32, tried=0.9).grow(matrix, answers[:, None]))
    yes = unknown[:, byte] > 127
    right = [np.mean((forest.predict(unknown)[:, 0] >= 0.75) == yes) for forest in grown]
    assert right[0] > max(right[1], 0.9)


def test_without_a_history_it_goes_by_the_client_if_that_is_known():
    """In training both tell the answer; asked, the one is unknown, and the other may be."""
    matrix, _ = noise(2000, 1)
    client, yes = COLUMNS.index("client"), np.arange(2000) % 2 == 1
    matrix[:, :HISTORY_BYTES] = np.where(yes, 200, 100)[:, None]
    matrix[:, client] = FIRST + yes
    forest = ForestModel(trees=16).grow(matrix, yes[:, None])
    known, unknown = matrix.copy(), matrix.copy()
    known[:, :HISTORY_BYTES] = 0
    mask_rows(unknown, "nothing")
    assert np.mean((forest.predict(known)[:, 0] >= 0.5) == yes) > 0.95
    assert abs(forest.predict(unknown).mean() - 0.5) < 0.1


def test_statistics_that_only_grow_are_not_used():
    forest = ForestModel(trees=8, leaf_rows=1).grow(*noise(2000, 1))
    looked_at = {COLUMNS[column] for column in set(forest.column.tolist()) - {2**16 - 1}}
    idle = {name for name, _ in HISTORY if name.split(".")[1] in IDLE}
    assert idle
    assert looked_at == set(COLUMNS) - idle


def test_labels_share_a_forest_unless_they_are_known_for_few_of_its_rows():
    always, often, seldom = np.ones(1000, bool), np.arange(1000) >= 300, np.arange(1000) >= 600
    assert shared([always, often, seldom, always, seldom]) == [[0, 1, 3], [2, 4]]
    first, last = np.arange(1000) >= 510, np.arange(1000) < 490
    assert shared([first, last]) == [[0], [1]]
    assert shared([]) == []


def test_an_unknown_label_teaches_nothing():
    matrix, _ = noise(3000, 1)
    yes = matrix[:, COLUMNS.index("last byte")] > 127
    answers = np.column_stack([yes, yes]).astype(float)
    answers[::3, 1] = np.nan
    wrong = answers.copy()
    wrong[::3, 1] = ~yes[::3]
    both = [
        ForestModel(trees=8).grow(matrix, labels).predict(matrix) for labels in (answers, wrong)
    ]
    right = [np.mean((scores[:, 1] >= 0.5) == yes) for scores in both]
    assert right[0] > 0.95 > right[1]
    assert abs(float(both[0][:, 1].mean() - yes.mean())) < 0.02


def test_a_create_with_only_a_name_is_answered_by_the_name():
    # users by whom the trees could tell the files apart as well
    known = [{"uid": 1, "gid": 1, "mode": 0o600}, {"uid": 2, "gid": 2, "mode": 0o644}]
    names = [b"cc%d.lock", b"page%d.html"]
    rows = [
        {"name": names[n % 2] % n, "history": bytes([9] * HISTORY_BYTES)} | known[n % 2]
        for n in range(600)
    ]
    fitted = ForestModel(trees=20).fit(from_requests(rows), np.arange(600) % 2 == 0)
    asked = from_requests([{"name": b"dd7.lock"}, {"name": b"news8.html"}])
    lock, page = fitted.predict_proba(asked)[:, 1]
    assert lock > 0.7
    assert page < 0.35
