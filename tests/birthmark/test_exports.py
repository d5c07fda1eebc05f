"""The names that `birthmark` exports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import birthmark
from birthmark.data.dump import TablesDump, TraceDump
from birthmark.data.samples import DAYS
from birthmark.features import History
from birthmark.predictor import FILE_PREDICATES, TrainedModel, own_predicate
from birthmark.training.evaluate.assessment import assess
from birthmark.training.learn.train import Lives
from birthmark.training.registry.stored import Stored
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.evaluation_run import EvaluationRun
from tests.builders.lives import MONDAY, day_of_lives, files_of, names_of
from tests.builders.traces import trace_of
from tests.layout_hint.report.made import comparison

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", birthmark.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(birthmark, name) is not None


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        birthmark.nothing  # noqa: B018


@pytest.mark.parametrize("package", ["birthmark", "birthmark.predictor", "birthmark.features"])
def test_a_shell_completes_the_public_names_and_no_others(package: str) -> None:
    program = f"import {package} as p; print(sorted(set(p.__all__) - set(dir(p))), *dir(p))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    missing, *names = done.stdout.decode().split()
    assert missing == "[]"
    assert not {"TYPE_CHECKING", "offered", "annotations"} & set(names)
    assert names == sorted(names)


ROWS = day_of_lives(MONDAY, each=5)
FILES, NAMES = files_of(*ROWS), names_of(*ROWS)


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    asked = [FILE_PREDICATES["lock"], own_predicate("large", "size > 1000")]
    return TrainedModel(calibration=0).train(FILES, NAMES, asked, kinds=["able", "rules"])


def test_the_repr_of_an_object_describes_it(model: TrainedModel, tmp_path: Path) -> None:
    stored = Stored("20261121T092524Z-59fe51", {"serve": "best"}, model)
    shown: dict[str, Any] = {
        "<TrainedModel: nothing learned yet>": TrainedModel(),
        "<TrainedModel: 2 predicates by able, rules, best; learned from 15 births>": model,
        "<able models of 2 predicates: lock, large>": model.models["able"],
        "<AttributeTree: has learned>": model.models["able"]["lock"],
        "<Predicate lock: created, never written into, and deleted within five seconds of"
        " creation>": model.predicates["lock"],
        "<Predicate large: size > 1000>": model.predicates["large"],
        f"<History of {len(model.histories['file'].to_table())} keys>": model.histories["file"],
        "<History of 0 keys>": History(),
        "<Lives of monday: 15 files, 15 names>": Lives(("monday",), FILES, NAMES),
        f"<Registry at {tmp_path}>": Registry(tmp_path),
    }
    assert {repr(each): text for text, each in shown.items()} == {text: text for text in shown}
    assert "serve" not in repr(stored)
    assert "<TrainedModel: 2 predicates" in repr(stored)
    assert repr(assess(model, FILES, NAMES)).startswith("<Assessment, rows: 12 of evaluation, ")


def test_the_repr_of_a_trace_names_it(tmp_path: Path) -> None:
    text = tmp_path / "day.txt"
    text.write_text(trace_of(ROWS))
    assert repr(birthmark.open_trace(text)) == f"<Trace of {text}: nfsdump>"
    sample = repr(birthmark.open_trace(DAYS[0]))
    assert sample == f"<OperationsTrace of {DAYS[0]}: operations>"
    assert repr(TraceDump(str(text))) == f"<TraceDump of {text}>"
    assert repr(TablesDump(tmp_path)) == f"<TablesDump of {tmp_path}>"


def test_the_repr_of_a_client_has_no_secret() -> None:
    with birthmark.Client("http://me:secret@127.0.0.1:1", token="secret") as client:
        assert repr(client) == "<Client of http://127.0.0.1:1>"
    there = birthmark.AsyncClient("unix:/run/birthmark.sock")
    assert repr(there) == "<AsyncClient of unix:/run/birthmark.sock>"


def test_the_repr_of_a_comparison_of_layouts_is_one_line() -> None:
    shown = repr(comparison())
    assert shown.startswith("<Comparison of Default, HotDir, ")
    assert shown.endswith(" on 2 days of CAMPUS>")


def test_an_evaluation_says_of_which_version_and_dataset_it_is(
    model: TrainedModel, tmp_path: Path
) -> None:
    (tmp_path / "day.txt").write_text(trace_of(ROWS))
    birthmark.ingest([tmp_path / "day.txt"], tmp_path / "day")
    run = EvaluationRun(Stored("the version", {}, model), tmp_path / "day")
    assert repr(run) == f"<EvaluationRun of the version on {tmp_path / 'day'}>"


def test_it_says_how_it_is_to_be_cited() -> None:
    """The members that the Citation File Format, version 1.2.0, requires."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"authors", "cff-version", "message", "title"} <= cited.keys()
    assert cited["version"] == birthmark.__version__
    assert cited["license"] == "BSD-2-Clause"
