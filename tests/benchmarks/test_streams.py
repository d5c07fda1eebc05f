from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import streams
from benchmarks.control_played import play
from benchmarks.streams_simulated import DRIFTS, simulated
from birthmark.predictor.control import ControlSettings


def test_each_kind_has_its_share_of_streams_and_a_row_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.json"
    asked = ["streams", "--streams", "14", "--births", "2000", "--json", str(out)]
    monkeypatch.setattr(sys, "argv", asked)
    streams.main()
    rows = json.loads(out.read_text())
    assert [row["kind"] for row in rows] == [*DRIFTS, *DRIFTS]
    printed = capsys.readouterr().out
    assert all(f" {kind} " in printed for kind in (*DRIFTS, "all"))


def test_a_controller_that_moves_is_above_the_bound_in_fewer_streams() -> None:
    settings = ControlSettings(patience=1000)
    drifting = [simulated("sudden", number, 1, 0.01) for number in range(4)]
    rows = [streams.row(played, "sudden", 0.01) for played in play(drifting, settings)]
    above = {
        who: sum(row[who]["first_above"] is not None for row in rows)
        for who in streams.CAN_BE_ABOVE
    }
    assert above["served"] < above["static"] == len(rows)
    assert all(row["best"]["false_positives"] <= 0.01 for row in rows)
