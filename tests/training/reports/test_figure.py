from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from birthmark.training.config import Settings
from birthmark.training.evaluate.assessment import Assessment, assess
from birthmark.training.evaluate.curves import CURVES
from birthmark.training.evaluate.evaluation import EVALUATION
from birthmark.training.learn.train import Lives, train
from birthmark.training.reports.figure import draw


@pytest.fixture(scope="module")
def assessment(days: list[tuple[pa.Table, pa.Table]]) -> Assessment:
    model, _ = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))
    return assess(model, *days[1])


def words(path: Path) -> set[str]:
    """Return the texts of an SVG picture, which Matplotlib keeps as comments beside the shapes."""
    return set(re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8")))


def test_all_models_and_predicates_are_in_one_picture(
    assessment: Assessment, tmp_path: Path
) -> None:
    out = tmp_path / "models.svg"
    draw(assessment.evaluation, assessment.curves, out, title="Tuesday")
    assert {"Tuesday", "name", "able", "lock", "name: lock", "size&gt;1M"} <= words(out)
    assert {"% of all files", "mean score", "observed frequency", "recall", "precision"} <= words(
        out
    )


@pytest.mark.deep
def test_the_same_figures_give_the_same_picture(assessment: Assessment, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw(assessment.evaluation, assessment.curves, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_nothing_to_show_is_a_picture_too(tmp_path: Path) -> None:
    draw(EVALUATION.empty_table(), CURVES.empty_table(), tmp_path / "none.png")
    assert (tmp_path / "none.png").read_bytes().startswith(b"\x89PNG")


def test_another_ending_is_refused(assessment: Assessment, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"models\.gif: expected a name that ends in \.svg or"):
        draw(assessment.evaluation, assessment.curves, tmp_path / "models.gif")
