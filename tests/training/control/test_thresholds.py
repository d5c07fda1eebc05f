from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.training.control import thresholds
from birthmark.training.control.thresholds import MovedThreshold, MovedThresholds

ROW = MovedThreshold(
    predicate="lock",
    told="caller",
    calibrated=0.5,
    score=None,
    sum=2**32 - 1,
    outcomes=70,
    false_positives=7,
)
MOVED = MovedThresholds(version="1", kind="forest", bound=0.01, clock=5, thresholds=[ROW])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = thresholds.beside(tmp_path / "history")
    assert path == tmp_path / "history.thresholds"
    assert thresholds.read(path) is None
    thresholds.write(path, MOVED)
    assert thresholds.read(path) == MOVED


@pytest.mark.parametrize("content", ["", "{}", '{"version": 1}', "[]"])
def test_what_is_none_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "history.thresholds"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{path}: expected thresholds"):
        thresholds.read(path)
