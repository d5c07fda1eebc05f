from __future__ import annotations

import numpy as np
import pytest

from birthmark.features import HISTORY_BYTES
from birthmark.features.encoding import COLUMNS, FIRST
from birthmark.predictor.models.forest import again
from birthmark.predictor.models.forest.estimator import ForestModel

SUFFIX, MODE = COLUMNS.index("suffix"), COLUMNS.index("mode")
ROWS = 3000


def births() -> tuple[np.ndarray, np.ndarray]:
    """Files of a suffix are gone, and have one mode; some others of another mode stay."""
    random = np.random.default_rng(3)
    matrix = np.full((ROWS, len(COLUMNS)), FIRST, dtype=np.uint8)
    matrix[:, :HISTORY_BYTES] = random.integers(1, 3, (ROWS, 1))
    matrix[:, SUFFIX] = random.integers(FIRST, FIRST + 6, ROWS)
    gone = matrix[:, SUFFIX] == FIRST
    matrix[:, MODE] = np.where(gone, FIRST, FIRST + 1 + (matrix[:, SUFFIX] > FIRST + 2))
    return matrix, gone[:, None]


def asked(mode: int) -> np.ndarray:
    rows = births()[0][:200]
    rows[:, :HISTORY_BYTES] = 0
    rows[:, SUFFIX], rows[:, MODE] = FIRST, mode
    return rows


def test_the_name_answers_for_a_mode_that_such_files_never_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = []
    for share in (again.UNSEEN_SHARE, 0.0):
        monkeypatch.setattr(again, "UNSEEN_SHARE", share)
        forest = ForestModel(trees=16, rounds=20).grow(*births())
        assert forest.predict(asked(FIRST)).mean() > 0.8
        right.append(min(forest.predict(asked(FIRST + n)).mean() for n in (1, 2)))
    assert right[0] > 0.7 > right[1] + 0.2


def test_rows_of_unseen_combinations_have_a_mode_that_no_row_has_with_their_suffix() -> None:
    matrix, labels = births()
    rows, answers = again.with_less_known(matrix, labels, 0)
    added = slice(len(rows) - round(again.UNSEEN_SHARE * ROWS * 0.8), None)
    pairs = set(map(tuple, matrix[:, [SUFFIX, MODE]].tolist()))
    new = [pair not in pairs for pair in map(tuple, rows[added][:, [SUFFIX, MODE]].tolist())]
    assert sum(new) > 0.2 * len(new)
    assert np.array_equal(answers[added][:, 0], rows[added][:, SUFFIX] == FIRST)
    assert len(rows) > ROWS
