from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks import streams
from benchmarks.control import trained
from benchmarks.control_played import play
from benchmarks.days import Day
from benchmarks.git_history import UNKNOWN
from benchmarks.streams_simulated import DRIFTS, simulated
from birthmark.predictor.control import ControlSettings
from tests.builders.lives import MONDAY, day_of_lives, files_of, names_of
from tests.builders.repositories import project


def test_each_kind_has_its_share_of_streams_and_a_row_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.json"
    asked = ["streams", "--streams", "14", "--births", "2000", "--json", str(out)]
    monkeypatch.setattr(sys, "argv", asked)
    streams.main()
    rows = json.loads(out.read_text())
    assert [row["kind"] for row in rows] == [kind for kind in DRIFTS for _ in range(2)]
    printed = capsys.readouterr().out
    assert all(f" {kind} " in printed for kind in (*DRIFTS, "all"))


def test_a_controller_that_moves_is_above_the_bound_in_fewer_streams() -> None:
    settings = ControlSettings()
    drifting = [simulated("sudden", number, 1, 0.01) for number in range(4)]
    rows = [streams.row(played, "sudden", 0.01) for played in play(drifting, settings)]
    above = {
        who: sum(row[who]["first_above"] is not None for row in rows)
        for who in streams.CAN_BE_ABOVE
    }
    assert above["served"] < above["static"] == len(rows)
    assert all(row["best"]["false_positives"] <= 0.01 for row in rows)


def test_streams_without_any_yes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = replace(simulated("stationary", 1, 1, 0.01, 500), static=None)
    silent = replace(silent, truths=silent.truths & False)
    with_yes = simulated("stationary", 2, 1, 0.01, 500)
    monkeypatch.setattr(streams, "simulated", lambda kind, number, *_: (silent, with_yes)[number])
    rows = streams.simulated_rows(2 * len(DRIFTS), 1, 500, ControlSettings())
    assert {row["predicate"] for row in rows} == {with_yes.row[0]}


def test_a_repository_is_played_from_the_half_of_its_births_on(tmp_path: Path) -> None:
    path = project(tmp_path, days=400)
    rows = streams.repository_rows(path, "rules", ControlSettings(0.1))
    assert {row["kind"] for row in rows} == {"project"}
    short = {row["scope"]: row for row in rows if row["predicate"] == "lifespan<=5"}
    assert short["nothing"]["n"] in range(390, 401)
    assert short["nothing"]["static"]["true_positives"] > 0.4
    assert not {*UNKNOWN} & {row["predicate"] for row in rows}


def test_days_change_at_noon() -> None:
    days = [
        Day("day", files_of(*rows), names_of(*rows))
        for rows in (day_of_lives(MONDAY + timedelta(days=n), 200) for n in range(2))
    ]
    model = trained(days[:1], "rules", 0.05)
    rows = streams.noon_rows(model, days[1], "rules", 1, ControlSettings(0.05))
    assert any(row["static"]["first_above"] for row in rows)
    assert {row["scope"] for row in rows} == {"directory", "nothing"}
