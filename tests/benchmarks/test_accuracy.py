from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verdicts import Figures, verdicts
from birthmark.data.samples import DAYS
from birthmark.predictor.models.kinds import KINDS

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {
    *("model", "predicate", "test", "n", "correct", "guess", "false_positives"),
    *("true_positives", "bound", "abstained"),
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str]:
    """Return the rows and the output of a run on the bundled days."""
    out = tmp_path_factory.mktemp("accuracy") / "rows.json"
    command = [sys.executable, "-m", "benchmarks.accuracy", "--budget", "1", "--json", str(out)]
    days = ["--train", str(DAYS[0]), "--test", str(DAYS[1])]
    predicates = ["--predicate", "lock", "--predicate", "size>16k"]
    run = subprocess.run(
        [*command, *days, *predicates], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return json.loads(out.read_text()), run.stdout


def test_every_model_has_a_row_with_and_without_the_bound(
    measured: tuple[list[dict[str, Any]], str],
) -> None:
    rows, _ = measured
    assert all(set(row) >= COLUMNS for row in rows)
    models = {row["model"] for row in rows}
    assert {*KINDS, "tree", "histogram", "logistic"} <= models
    for model in models:
        own = [row for row in rows if row["model"] == model]
        assert sorted((row["predicate"], row["bound"] is None) for row in own) == [
            *(("lock", False), ("lock", True)),
            *(("size>16k", False), ("size>16k", True)),
        ]
    for row in rows:
        assert row["test"] == DAYS[1].name
        assert row["n"] in (5403, 5406)
        assert 0 <= row["false_positives"] <= 1 - row["guess"] + 1e-9 or row["guess"] < 0.5
        assert 0 <= row["true_positives"] <= row["occurs"]


def test_the_unbounded_name_model_is_that_of_the_thesis(
    measured: tuple[list[dict[str, Any]], str],
) -> None:
    """It learns from all of the first day, and decides by its own rule."""
    rows, _ = measured
    (lock,) = [
        row
        for row in rows
        if (row["model"], row["predicate"], row["bound"]) == ("name", "lock", None)
    ]
    assert 100 * lock["correct"] == pytest.approx(94.28, abs=0.005)
    assert 100 * lock["false_positives"] == pytest.approx(0.11, abs=0.005)


def test_the_tables_are_printed(measured: tuple[list[dict[str, Any]], str]) -> None:
    _, text = measured
    assert "true positives at false positives of at most 1.0%" in text
    assert "errors without a bound" in text
    assert "of name's" in text


def row(model: str, bound: float | None, **columns: Any) -> dict[str, Any]:
    figures = {"correct": 0.9, "guess": 0.8, "true_positives": 0.1, "broken": False, "n": 100}
    return {"model": model, "predicate": "lock", "test": "day", "bound": bound} | figures | columns


def judged(**forest: Any) -> dict[str, bool]:
    """Return the verdicts on a forest beside a name model, a tree of ABLE and one peer."""
    rows = [row(model, bound) for model in ("name", "able", "lightgbm") for bound in (None, 0.01)]
    rows += [row("forest", bound, correct=0.96, **forest) for bound in (None, 0.01)]
    return {claim.removeprefix("forest: "): met for claim, met, _ in verdicts(Figures(rows))}


def test_every_claim_is_judged_by_itself() -> None:
    claims = judged(true_positives=0.2)
    assert len(claims) == 7
    assert all(claims.values())
    assert [c for c, met in judged(true_positives=0.1).items() if not met] == [
        "more true positives than the best peer on most"
    ]
    assert [c for c, met in judged(true_positives=0.2, broken=True).items() if not met] == [
        "never over the bound by more than sampling"
    ]
    worse = judged(true_positives=0.2, guess=0.97)
    assert [c for c, met in worse.items() if not met] == ["without the bound never below guessing"]


def test_a_peer_that_broke_the_bound_is_not_at_it() -> None:
    rows = [row("tree", 0.01), row("lightgbm", 0.01, true_positives=0.5, broken=True)]
    best = Figures(rows).best_peer("lock", "day")
    assert best is not None
    assert best["model"] == "tree"


def test_fewer_errors_than_none_are_not_asked_for() -> None:
    rows = [row(m, bound, correct=1.0) for m in ("able", "forest") for bound in (None, 0.01)]
    rows += [row("name", bound) for bound in (None, 0.01)]
    claims = {claim: met for claim, met, _ in verdicts(Figures(rows))}
    assert claims["forest: fewer errors than able on each predicate"]


def test_without_a_model_of_ours_nothing_is_claimed() -> None:
    assert verdicts(Figures([row("name", None), row("name", 0.01)])) == []
