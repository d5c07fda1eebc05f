"""A control beside a follower: it is of what is published, counts, tells services, and goes on."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.follow.run import Follower
from birthmark.data.samples import DAYS
from birthmark.data.settings import Following
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor import FILE_PREDICATES
from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.trained import TrainedModel
from birthmark.training.control import follower
from birthmark.training.control.follower import FollowerControl
from birthmark.training.registry import thresholds
from birthmark.training.registry.thresholds import MovedThresholds
from birthmark.training.registry.versions import Registry
from birthmark_native import TextWriter

KEYS = ("size=zero", "lifespan<=1", "write-only")
SERVED = {"serve": "forest", "point": "bounded"}


@pytest.fixture(scope="module")
def operations() -> pa.Table:
    return pq.read_table(DAYS[0]).slice(0, 12_000)


@pytest.fixture(scope="module")
def trace(operations: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    writer = TextWriter()
    path = tmp_path_factory.mktemp("trace") / "day.txt"
    written = [writer.write(batch) for batch in operations.to_batches()]
    path.write_bytes(b"".join([*written, writer.finish()]))
    return path


@pytest.fixture(scope="module")
def model(operations: pa.Table) -> TrainedModel:
    files, names = lives.tables(operations.to_batches())
    predicates = [FILE_PREDICATES[key] for key in KEYS]
    found = TrainedModel(trees=4, rounds=0, calibration=0)
    found.train(files, names, predicates, kinds=("forest",))
    always = OperatingPoints(0.5, bounded=0.0)
    found.of_kind("forest").points = {"nothing": dict.fromkeys(KEYS, always)}
    return found


@pytest.fixture
def registry(tmp_path: Path, model: TrainedModel) -> Registry:
    stored = Registry(tmp_path / "registry")
    stored.publish(model.save, SERVED)
    return stored


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(follower, "EVERY", 0.0)
    (tmp_path / "run").mkdir(mode=0o700)
    return tmp_path / "run" / "history"


def follow(trace: Path, out: Path, history: Path, registry: Registry) -> None:
    """Follow a whole trace with a control beside."""
    how = Following(history=history, until_idle=0.01)
    out.mkdir(exist_ok=True)
    with (
        FollowerControl(registry, history, out) as control,
        Follower(trace, out, how, heed=control.heed) as followed,
    ):
        while followed.go_on():
            pass


def thresholds_beside(history: Path) -> MovedThresholds:
    found = thresholds.read(thresholds.beside(history))
    assert found is not None
    return found


def counted(found: MovedThresholds) -> list[int]:
    """Return the outcomes without history: others depend on the follower's pace."""
    return [row.outcomes for row in found.thresholds if row.told == "nothing"]


def every_count(found: MovedThresholds) -> list[tuple[int, int]]:
    return [(row.outcomes, row.false_positives) for row in found.thresholds]


def test_outcomes_move_the_thresholds_of_the_published_version(
    trace: Path, tmp_path: Path, history: Path, registry: Registry, model: TrainedModel
) -> None:
    follow(trace, tmp_path / "out", history, registry)
    found = thresholds_beside(history)
    assert (found.version, found.kind, found.bound) == (registry.current(), "forest", 0.01)
    rows = {(row.predicate, row.told): row for row in found.thresholds}
    assert set(rows) == {(key, level) for key in KEYS for level in HISTORY_SCOPES}
    row = rows["size=zero", "nothing"]
    models = model.of_kind("forest")
    assert row.calibrated == models.point("size=zero", "nothing").bounded
    assert row.outcomes > 500
    assert row.sum == models.least_sum("size=zero", row.score)
    assert row.false_positives > 10
    assert row.score is None or row.score > 0


def test_the_next_follower_goes_on_from_what_was_counted_unless_another_is_published(
    trace: Path, tmp_path: Path, history: Path, registry: Registry, model: TrainedModel
) -> None:
    follow(trace, tmp_path / "out", history, registry)
    first = thresholds_beside(history)
    follow(trace, tmp_path / "out", history, registry)  # it has ended: nothing new is there
    again = thresholds_beside(history)
    assert (again.clock, every_count(again)) == (first.clock, every_count(first))
    follow(trace, tmp_path / "other", history, registry)
    assert counted(thresholds_beside(history)) == counted(first)
    (tmp_path / "other" / ".control").replace(tmp_path / "again")
    third = tmp_path / "third"
    third.mkdir()
    (tmp_path / "again").replace(third / ".control")
    follow(trace, third, history, registry)  # the same traffic: it was counted
    assert counted(thresholds_beside(history)) == counted(first)
    registry.publish(model.save, SERVED)
    follow(trace, third / "new", history, registry)
    assert thresholds_beside(history).version == registry.current() != first.version


def test_a_damaged_state_is_named_and_ignored(
    trace: Path,
    tmp_path: Path,
    history: Path,
    registry: Registry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".control").write_bytes(b"no Arrow file")
    follow(trace, tmp_path / "out", history, registry)
    assert f"{tmp_path}/out/.control" in caplog.text
    # a birth of any history scope counts for that without history; use is due after the trace
    assert all(
        row.outcomes > 0
        for row in thresholds_beside(history).thresholds
        if row.told == "nothing" and row.predicate != "write-only"
    )


def test_births_that_the_control_has_no_time_for_are_left_out(
    trace: Path,
    tmp_path: Path,
    history: Path,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "MOST_WAITING", 10)
    monkeypatch.setattr(follower, "EVERY", 1e9)
    (tmp_path / "out").mkdir()
    with (
        FollowerControl(registry, history, tmp_path / "out") as control,
        Follower(
            trace,
            tmp_path / "out",
            Following(history=history, until_idle=0.01),
            heed=control.heed,
        ) as followed,
    ):
        while followed.go_on():
            pass
    assert control.skipped > 1000
    assert all(row.outcomes <= 10 for row in thresholds_beside(history).thresholds)


def test_without_a_published_model_there_are_no_thresholds(
    trace: Path, tmp_path: Path, history: Path
) -> None:
    follow(trace, tmp_path / "out", history, Registry(tmp_path / "none"))
    assert thresholds.read(thresholds.beside(history)) is None
