from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.control import PREDICATES
from birthmark.data.samples import DAYS

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]


def run_control(*options: str) -> str:
    """Run the benchmark on the bundled days; return its output."""
    days = ["--train", str(DAYS[0]), "--test", str(DAYS[1]), "--kind", "rules"]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.control", *days, *options],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return run.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str, Path]:
    """Return the rows, the output and the picture of a run on the bundled days."""
    out = tmp_path_factory.mktemp("control")
    files = ["--json", str(out / "rows.json"), "--plot", str(out / "noon.svg")]
    printed = run_control("--noon", *files)
    return json.loads((out / "rows.json").read_text()), printed, out / "noon.svg"


def test_each_predicate_has_a_row_at_each_level(
    measured: tuple[list[dict[str, Any]], str, Path],
) -> None:
    rows, printed, picture = measured
    found = [(row["predicate"], row["scope"]) for row in rows]
    assert sorted(found) == sorted((k, at) for k in PREDICATES for at in ("directory", "nothing"))
    assert "births after noon until the next 1000 keep the bound" in " ".join(printed.split())
    assert picture.read_text().startswith("<?xml")


def test_the_best_threshold_in_hindsight_keeps_the_bound(
    measured: tuple[list[dict[str, Any]], str, Path],
) -> None:
    rows, _, _ = measured
    assert all(row["best"]["false_positives"] <= 0.01 for row in rows)
    assert any(row["static"]["false_positives"] > 0.01 for row in rows)


def test_the_control_moves_thresholds(measured: tuple[list[dict[str, Any]], str, Path]) -> None:
    rows, _, _ = measured
    wrong = {
        who: sum(row[who]["false_positives"] for row in rows if row["scope"] == "directory")
        for who in ("served", "static")
    }
    assert wrong["served"] < wrong["static"]


def test_misleading_births_have_a_row_per_effect(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    printed = run_control("--misleading", "500", "--json", str(out))
    rows = json.loads(out.read_text())
    moved = {row["predicate"] for row in rows}
    assert len(rows) == len(moved) * 4
    assert "lifespan<=1" in moved
    assert "write-only" in moved
    assert "500 births of one client" in printed
