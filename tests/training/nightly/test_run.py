"""Tests also training/nightly/candidate.py."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.common import durable
from birthmark.data.prediction_log import PREDICTIONS
from birthmark.predictor import TrainedModel
from birthmark.training.config import (
    Audit,
    Config,
    Datasets,
    Engine,
    RegistryConfig,
    Traces,
    Training,
)
from birthmark.training.nightly import candidate, intake
from birthmark.training.nightly import run as nightly
from birthmark.training.nightly.compare import Decision
from birthmark.training.nightly.reproduce import reproduce
from birthmark.training.nightly.run import Night
from birthmark.training.nightly.state import NightState, read
from birthmark.training.registry.versions import Registry

pytestmark = pytest.mark.deep

Bring = Callable[[int], None]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nights") / "now"


@pytest.fixture
def tmp_path(place: Path) -> Path:
    """Return an empty directory with a fixed name, because stored results name its traces."""
    return emptied(place)


def emptied(place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return place


@pytest.fixture(scope="module")
def finished_night(place: Path, traces: list[str]) -> tuple[Night, Path]:
    """Return the first night and a copy of what it left."""
    (emptied(place) / "day0.txt").write_text(traces[0])
    night = run(configured(place))
    return night, shutil.copytree(place, place.with_name("kept"))


@pytest.fixture
def first(finished_night: tuple[Night, Path], tmp_path: Path) -> Night:
    """Return the first night, after which all is as it left it."""
    night, copy = finished_night
    shutil.copytree(copy, tmp_path, dirs_exist_ok=True)
    return night


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return configured(tmp_path)


def configured(tmp_path: Path) -> Config:
    return Config(
        traces=Traces(files=[str(tmp_path / "*.txt")], settle_seconds=0),
        datasets=Datasets(directory=tmp_path / "datasets"),
        registry=RegistryConfig(directory=tmp_path / "registry"),
        training=Training(trees=4, rounds=2),
        engine=Engine(workers=1),
    )


@pytest.fixture
def bring(tmp_path: Path, traces: list[str]) -> Bring:
    """Return what lets the trace of a day appear."""

    def appear(day: int) -> None:
        (tmp_path / f"day{day}.txt").write_text(traces[day])

    return appear


@pytest.fixture
def registry(config: Config) -> Registry:
    return Registry(config.registry.directory)


def run(config: Config) -> Night:
    return nightly.nightly(config)


def state(tmp_path: Path) -> dict[str, bytes]:
    """Return every file, but for what tells when the last night was."""
    files = (path for path in sorted(tmp_path.rglob("*")) if path.is_file())
    return {str(path): path.read_bytes() for path in files if path.name != "nightly.json"}


def test_a_night_without_traces_does_nothing(config: Config, registry: Registry) -> None:
    night = run(config)
    assert (night.traces, night.version, night.current) == (0, None, None)
    assert registry.versions() == []


def test_the_first_night_publishes(first: Night, registry: Registry) -> None:
    night = first
    assert night.traces == 1
    assert night.trained_on == night.datasets
    assert night.tested == []
    assert night.decision is not None
    assert night.decision.reason == "nothing was published before"
    assert night.version == night.current == registry.current()
    registry.verify(str(night.version))


def test_the_second_night_tests_the_published_model_on_the_new_day_and_replaces_it(
    first: Night, config: Config, bring: Bring, registry: Registry
) -> None:
    bring(1)
    second = run(config)
    assert second.tested == second.datasets
    folder = config.datasets.directory / second.datasets[0]
    results = json.loads((folder / "evaluation.json").read_text())
    assert results["version"] == first.version
    lock = next(r for r in results["figures"] if (r["predicate"], r["model"]) == ("lock", "name"))
    assert (lock["n"], lock["correct"]) == (60, 100)
    assert "<h1>Birthmark report</h1>" in (folder / "report.html").read_text()
    assert registry.read("report.html") == (folder / "report.html").read_bytes()
    assert second.trained_on == [*first.datasets, *second.datasets]
    assert second.current == second.version == registry.current()
    manifest = registry.manifest(str(second.version))
    assert manifest["decision"]["publish"]
    assert manifest["trained_on"]["files"] == 120
    assert {row["n"] for row in manifest["figures"] if row["predicate"] == "lock"} == {30}


def test_a_night_after_a_refresh_tests_and_replaces_the_version_that_was_refreshed(
    first: Night, config: Config, bring: Bring, registry: Registry
) -> None:
    base = str(first.version)
    directory = registry.directory(base)

    def write(copy: Path) -> None:
        shutil.copytree(directory, copy, dirs_exist_ok=True)
        (copy / "manifest.json").unlink()

    registry.refresh(write, registry.manifest(base))
    assert registry.current() != base
    assert run(config).version is None, "the same window is not trained on again"
    bring(1)
    second = run(config)
    folder = config.datasets.directory / second.datasets[0]
    assert json.loads((folder / "evaluation.json").read_text())["version"] == base
    manifest = registry.manifest(str(second.version))
    assert (manifest["compared_with"], second.current) == (base, second.version)
    assert registry.previous() == base


def test_each_night_leaves_a_page_about_its_day_with_what_the_model_answered(
    first: Night, config: Config, registry: Registry, bring: Bring
) -> None:
    bring(1)
    night = run(config)
    assert (len(first.pages), night.pages) == (1, night.datasets)
    page = (registry.read("day.html") or b"").decode()
    assert page == (config.datasets.directory / night.datasets[0] / "day.html").read_text()
    assert "Accuracy of the model:" in page


def test_nights_that_train_one_kind_test_report_compare_and_reproduce_it(
    config: Config, bring: Bring, registry: Registry
) -> None:
    training = Training(trees=4, rounds=2, serve="rules")
    config = config.model_copy(update={"training": training})
    for day in (0, 1):
        bring(day)
        night = run(config)
    version = str(night.version)
    model = TrainedModel.load(registry.directory(version))
    assert (model.kinds, registry.current()) == (("rules",), version)
    assert b"Rule list" in (registry.read("report.html") or b"")
    found = reproduce(registry, version, config.datasets.directory)
    assert (found.differs, found.not_compared) == (None, [])


def test_a_night_removes_what_is_older_than_the_configuration_keeps(
    config: Config, bring: Bring, registry: Registry
) -> None:
    keeping = {
        "training": Training(trees=4, rounds=2, window_days=1, serve="name"),
        "datasets": config.datasets.model_copy(update={"keep_days": 1.0}),
        "registry": config.registry.model_copy(update={"keep_versions": 1}),
    }
    config = config.model_copy(update=keeping)
    nights = []
    for day in (0, 1, 2):
        bring(day)
        nights.append(run(config))
    assert [night.removed for night in nights] == [[], [], nights[0].datasets]
    assert [night.pruned for night in nights] == [[], [], [nights[0].version]]
    assert not (config.datasets.directory / nights[0].datasets[0]).exists()
    assert registry.versions() == [nights[1].version, nights[2].version]
    report = known(registry)
    assert (report.did["removed"], report.did["pruned"]) == (1, 1)
    again = run(config)
    assert (again.traces, again.removed, again.pruned) == (0, [], [])


def known(registry: Registry) -> NightState:
    report = read(registry)
    assert report is not None
    return report


def test_a_night_keeps_what_came_of_it(first: Night, registry: Registry) -> None:
    report = known(registry)
    assert (report.outcome, report.failures) == ("done", 0)
    assert report.did["traces"] == report.did["datasets"] == report.did["versions"] == 1
    assert report.did["operations"] > 0
    assert report.decision == "nothing was published before"
    parts = registry.manifest(str(first.version))["parts"].values()
    assert report.written > sum(part["size"] for part in parts)
    assert report.held["registry"] > report.held["datasets"] > 0


def test_a_night_that_fails_leaves_why(
    config: Config, bring: Bring, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(0)
    monkeypatch.setattr(nightly, "train_candidate", Mock(side_effect=ValueError("no luck")))
    with pytest.raises(ValueError, match="no luck"):
        run(config)
    report = known(registry)
    assert (report.outcome, report.why, report.failures) == ("failed", "no luck", 1)


def test_a_second_run_in_a_row_changes_nothing(
    config: Config, bring: Bring, tmp_path: Path
) -> None:
    for day in (0, 1):
        bring(day)
        run(config)
        before = state(tmp_path)
        night = run(config)
        assert (night.traces, night.tested, night.version) == (0, [], None)
        assert state(tmp_path) == before


def test_a_worse_model_is_set_aside_with_the_reason_and_not_trained_again(
    first: Night,
    config: Config,
    bring: Bring,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bring(1)
    verdict = Decision(False, "worse by more than 0: …", 90.0, 80.0)
    monkeypatch.setattr(candidate, "decide", lambda *arguments: (verdict, None))
    second = run(config)
    assert second.current == first.version == registry.current()
    assert registry.versions() == [first.version, second.version]
    assert registry.manifest(str(second.version))["decision"]["reason"] == verdict.reason
    assert run(config).version is None


def test_while_a_version_is_pinned_candidates_are_set_aside_and_the_night_reports_it(
    first: Night, config: Config, bring: Bring, registry: Registry
) -> None:
    registry.pin()
    bring(1)
    second = run(config)
    assert (second.current, second.pinned) == (first.version, first.version)
    assert registry.versions() == [first.version, second.version]
    decision = registry.manifest(str(second.version))["decision"]
    assert not decision["publish"]
    assert decision["reason"].startswith(f"{first.version} is pinned (no worse: ")
    assert run(config).version is None


def test_a_version_that_was_gone_back_from_comes_back_with_no_night_without_traces(
    first: Night, config: Config, bring: Bring, registry: Registry
) -> None:
    bring(1)
    assert run(config).current != first.version
    assert registry.rollback() == first.version
    night = run(config)
    assert (night.version, night.current) == (None, first.version)


def test_only_the_newest_window_is_trained_on(config: Config, bring: Bring) -> None:
    training = config.training.model_copy(update={"window_days": 1.5})
    config = config.model_copy(update={"training": training})
    datasets: list[str] = []
    for day in range(3):
        bring(day)
        night = run(config)
        datasets += night.datasets
    assert night.trained_on == datasets[1:]


class KilledError(Exception):
    """Stands for the end of the process."""


RESULTS = ("trace", "dataset", "ledger", "report", "figures", "version", "history", "pointer")
"""The files that a night writes, in this order, each by a rename."""


@pytest.mark.parametrize("step", range(len(RESULTS)), ids=RESULTS)
def test_a_run_killed_before_any_of_its_results_is_finished_by_the_next(
    step: int,
    first: Night,
    config: Config,
    bring: Bring,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bring(1)
    with monkeypatch.context() as patch:
        kill(patch, after=step)
        with pytest.raises(KilledError):
            run(config)
    assert registry.current() == first.version
    registry.verify(str(first.version))
    night = run(config)
    held = [dataset.path.name for dataset in intake.datasets(config.datasets.directory)]
    assert len(held) == 2
    assert night.current != first.version
    assert registry.manifest(str(night.current))["trained_on"]["datasets"] == held
    results = json.loads((config.datasets.directory / held[1] / "evaluation.json").read_text())
    assert results["version"] == first.version
    assert run(config).version is None


def kill(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Make the rename numbered `after`, and all later ones, fail: only renames make results."""
    calls = 0
    real = durable.rename

    def failing(source: Path, target: Path) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KilledError
        real(source, target)

    monkeypatch.setattr(durable, "rename", failing)


def test_a_file_that_is_no_trace_is_refused_and_keeps_no_other_waiting(
    config: Config, bring: Bring, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xd8\xff\xe0 JFIF")
    bring(0)
    night = run(config)
    assert night.traces == 1
    assert list(night.refused) == [str(tmp_path / "a.txt")]
    assert "a.txt" in night.refused[str(tmp_path / "a.txt")]
    assert night.version == night.current


def test_two_runs_at_once_are_refused(config: Config, bring: Bring) -> None:
    directory = config.datasets.directory
    directory.mkdir()
    with durable.locked(directory / ".lock"), pytest.raises(durable.LockedError, match="lock"):
        run(config)


@pytest.mark.parametrize("refresh", ["", ".00007-0a1b2c"], ids=["trained", "refreshed"])
def test_served_predictions_are_audited_once_with_each_new_dataset(
    first: Night, config: Config, bring: Bring, registry: Registry, tmp_path: Path, refresh: str
) -> None:
    log = tmp_path / "log"
    config = config.model_copy(update={"audit": Audit(log=log)})
    assert first.audited == []  # nothing was published, and there is no log
    day = log / "20011023"
    day.mkdir(parents=True)
    born = datetime(2001, 10, 23, tzinfo=UTC)
    row = {"time": born, "name": b"inbox.lock", "uid": 1, "answer:lock": True}
    row |= {"model": f"{first.version}{refresh}", "kind": "rules", "point": "bounded"}
    columns = pa.schema([*PREDICTIONS, pa.field("answer:lock", pa.bool_())])
    pq.write_table(pa.Table.from_pylist([row], schema=columns), day / "1.parquet")
    bring(1)
    second = run(config)
    assert second.audited == [*first.datasets, *second.datasets]
    finished_night = json.loads(
        (registry.path / "audits" / f"{second.datasets[0]}.json").read_text()
    )
    assert finished_night["version"] == first.version
    (figures,) = finished_night["figures"]
    assert (figures["predicate"], figures["n"], figures["n_correct"]) == ("lock", 1, 1)
    assert finished_night["drift"] == []
    assert (second.breaches, run(config).audited) == ({}, [])


def shifted(text: str, days: float, files: int | None = None) -> str:
    """Return a trace of other days, or the first so many files of it."""

    def later(time: re.Match[str]) -> str:
        return f"{float(time[0]) + days * 86_400:.6f}"

    lines = text.splitlines(keepends=True)[: None if files is None else 2 * files]
    return re.sub(r"\b\d{9,10}\.\d{6}", later, "".join(lines))


def never(text: str) -> str:
    """Return two lines of a trace, dated 2223."""
    return shifted(text, 222 * 365.25, 1)


def both_days_are_learned(night: Night, config: Config, registry: Registry) -> None:
    """Check that a night learned from the two good days, and published that."""
    manifest = registry.manifest(str(night.version))
    assert night.current == night.version
    assert manifest["trained_on"]["files"] == 120
    assert manifest["trained_on"]["until"].startswith("2001-10-23")


@pytest.mark.parametrize("when", ["2223", "2020", "1970"])
def test_a_record_with_a_wrong_time_changes_no_night(
    when: str, config: Config, bring: Bring, tmp_path: Path, traces: list[str], registry: Registry
) -> None:
    bring(0)
    run(config)
    days = (datetime(int(when), 6, 1, tzinfo=UTC) - datetime(2001, 10, 22, tzinfo=UTC)).days
    lines = traces[1].splitlines(keepends=True)
    lines.insert(len(lines) // 2, shifted(lines[0], days))
    (tmp_path / "day1.txt").write_text("".join(lines))
    night = run(config)
    assert night.set_aside == {"after-clock" if when == "2223" else "odd-time": 1}
    both_days_are_learned(night, config, registry)
    bring(2)
    third = run(config)
    assert third.trained_on == [*night.trained_on, *third.datasets]
    assert third.current == third.version


def test_a_trace_of_2223_is_refused_and_the_nights_go_on(
    first: Night,
    config: Config,
    bring: Bring,
    tmp_path: Path,
    traces: list[str],
    registry: Registry,
) -> None:
    (tmp_path / "a.txt").write_text(never(traces[1]))
    night = run(config)
    assert (night.version, night.current) == (None, first.version)
    (reason,) = night.refused.values()
    assert "a.txt: 2 of 2 records have times later than a day after this host's clock" in reason
    bring(1)
    both_days_are_learned(run(config), config, registry)


def test_records_of_every_far_year_keep_no_other_trace_waiting(
    config: Config, bring: Bring, tmp_path: Path, traces: list[str], registry: Registry
) -> None:
    for year in (2256, 9999, 10_000, 33_000):
        late = shifted(traces[0], (year - 2001) * 365.25, 1)
        (tmp_path / f"{year}.txt").write_text(late)
        (tmp_path / f"within{year}.txt").write_text(shifted(traces[0], 0, 8) + late)
    bring(0)
    bring(1)
    night = run(config)
    assert sorted(Path(path).name for path in night.refused) == sorted(
        f"{year}.txt" for year in (2256, 9999, 10_000, 33_000)
    )
    assert night.set_aside == {"after-clock": 8}
    assert night.current == night.version is not None


def test_a_dataset_of_few_births_at_a_wrong_time_is_left_out_until_others_agree(
    first: Night,
    config: Config,
    bring: Bring,
    tmp_path: Path,
    traces: list[str],
    registry: Registry,
) -> None:
    (tmp_path / "a.txt").write_text(shifted(traces[0], 5000, 2))
    output: list[str] = []
    night = nightly.nightly(config, output.append)
    (name,) = night.datasets
    assert (night.version, night.tested, night.current) == (None, [], first.version)
    assert night.left_out[name].startswith("1 birth in the 7 days to 2015-")
    assert f"leaving out {name}: {night.left_out[name]}" in output
    bring(1)
    second = run(config)
    both_days_are_learned(second, config, registry)
    assert name not in second.trained_on
    assert list(second.left_out) == [name]


def test_a_dataset_after_the_clock_is_left_out_until_the_clock_is_there(
    first: Night, config: Config, bring: Bring
) -> None:
    bring(1)
    early = datetime(2001, 10, 22, tzinfo=UTC)
    night = nightly.nightly(config, now=early)
    assert (night.version, night.current, night.tested) == (None, first.version, [])
    assert night.left_out == {night.datasets[0]: "ends at 2001-10-23 00:29, after this host's time"}
    later = nightly.nightly(config, now=early + timedelta(days=1))
    assert (later.tested, later.trained_on) == (night.datasets, [*first.datasets, *night.datasets])


def test_a_gap_longer_than_the_window_is_reported_and_ends_the_training_data(
    first: Night, config: Config, tmp_path: Path, traces: list[str], registry: Registry
) -> None:
    (tmp_path / "late.txt").write_text(shifted(traces[1], 30))
    output: list[str] = []
    night = nightly.nightly(config, output.append)
    assert night.trained_on == night.datasets
    assert "training on 1 dataset" in output
    assert night.gap in output
    assert str(night.gap).startswith("no births from 2001-10-22 to 2001-11-22, longer than")
    assert night.current == night.version


def test_a_candidate_of_far_fewer_files_is_published_only_on_request(
    first: Night, config: Config, tmp_path: Path, traces: list[str], registry: Registry
) -> None:
    shutil.rmtree(config.datasets.directory / first.datasets[0])
    training = config.training.model_copy(update={"margin": 100.0})
    config = config.model_copy(update={"training": training})
    (tmp_path / "few.txt").write_text(shifted(traces[1], 30, 8))
    night = run(config)
    assert night.current == first.version
    assert night.decision is not None
    assert night.decision.reason.startswith(
        "learned from 4 files, less than 0.1 of the 60 of the published model (no worse: "
    )
    assert run(config).version is None
    registry.make_current(str(night.version))
    assert run(config).current == night.version
