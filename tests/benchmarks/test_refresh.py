from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import refresh
from benchmarks.refresh import WHO
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.predictor.control.refresh import JUDGED


@pytest.mark.deep
def test_each_predicate_has_the_figures_of_both_models_at_each_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, day in enumerate(DAYS[:2]):
        ingest([day], tmp_path / str(number))
    out = tmp_path / "rows.json"
    days = ["--train", str(tmp_path / "0"), "--test", str(tmp_path / "1")]
    monkeypatch.setattr(sys, "argv", ["refresh", *days, "--every", "5", "--json", str(out)])
    refresh.main()
    rows = json.loads(out.read_text())
    by_model = {who: [row for row in rows if row["model"] == who] for who in WHO}
    named = [[(row["predicate"], row["scope"]) for row in own] for own in by_model.values()]
    assert named[0] == named[1]
    assert {scope for _, scope in named[0]} == set(JUDGED)
    errors = [[row["errors"] for row in own] for own in by_model.values()]
    assert errors[0] != errors[1], "some refresh changed some answer"
    assert " refreshed " in capsys.readouterr().out
