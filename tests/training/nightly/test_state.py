"""The state of a night is recorded, however it ended."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from birthmark.training.nightly.state import (
    LATE,
    NIGHTS,
    STATE,
    NightState,
    Recorder,
    read,
    recording,
)
from birthmark.training.registry.versions import Registry, RegistryError

NOW = datetime(2026, 11, 21, 3, tzinfo=UTC)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "registry")


@pytest.fixture
def datasets(tmp_path: Path) -> Path:
    made = tmp_path / "datasets" / "monday"
    made.mkdir(parents=True)
    (made / "files").write_bytes(bytes(1000))
    return made.parent


def known(registry: Registry) -> NightState:
    found = read(registry)
    assert found is not None
    return found


def test_a_registry_without_a_night_has_no_state(registry: Registry) -> None:
    assert read(registry) is None


def test_a_night_that_is_done_tells_when_how_long_and_what_it_wrote(
    registry: Registry, datasets: Path
) -> None:
    with recording(registry, datasets) as recorder:
        assert known(registry).is_open
        recorder.add({"traces": 2}, "no worse", ["monday"], None)
        recorder.end("done")
    night = known(registry)
    assert (night.outcome, night.why, night.failures) == ("done", None, 0)
    assert night.ended == night.succeeded
    assert night.ended is not None
    assert night.began <= night.ended
    assert not night.is_open
    assert (night.did, night.decision, night.written) == ({"traces": 2}, "no worse", 1000)
    assert night.held["datasets"] == 1000
    assert night.held.keys() == night.free.keys() == {"datasets", "registry"}
    assert min(night.free.values()) > 0


def test_a_night_that_fails_says_why_and_keeps_when_one_last_succeeded(
    registry: Registry, datasets: Path
) -> None:
    with recording(registry, datasets) as recorder:
        recorder.end("refused")
    before = known(registry)
    for number in (1, 2):
        with pytest.raises(OSError, match="no room"), recording(registry, datasets):
            raise OSError(28, "no room", "/srv/datasets")
        night = known(registry)
        assert (night.outcome, night.why) == ("failed", "/srv/datasets: no room")
        assert (night.succeeded, night.failures) == (before.succeeded, number)
    with recording(registry, datasets) as recorder:
        recorder.end("done")
    assert known(registry).failures == 0


def test_a_night_that_was_killed_is_one_that_failed(registry: Registry, datasets: Path) -> None:
    Recorder(registry, datasets)  # and nothing more is heard of it
    night = known(registry)
    assert (night.is_open, night.ended, night.failures) == (True, None, 0)
    Recorder(registry, datasets)
    assert known(registry).failures == 1


def test_a_night_continues_if_its_state_cannot_be_saved(datasets: Path, tmp_path: Path) -> None:
    (tmp_path / "registry").write_text("a file where a directory should be")
    with recording(Registry(tmp_path / "registry"), datasets) as recorder:
        recorder.end("done")
    assert recorder.trouble is not None
    assert "registry" in recorder.trouble


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"format": 2}', b'{"format": 1, "began": 7}'])
def test_a_damaged_state_is_named_and_costs_no_night(
    registry: Registry, datasets: Path, content: bytes
) -> None:
    registry.write(STATE, content)
    with pytest.raises(RegistryError, match=r"nightly\.json: expected the state of a night"):
        read(registry)
    with recording(registry, datasets) as recorder:
        recorder.end("done")
    assert known(registry).outcome == "done"


def test_it_says_when_it_is_late_and_where_room_is_short() -> None:
    night = NightState(NOW, NOW, "done", succeeded=NOW, written=100)
    assert not night.late(NOW + LATE)
    assert night.late(NOW + LATE + timedelta(seconds=1))
    assert replace(night, succeeded=None, began=NOW - LATE).late(NOW + timedelta(seconds=1))
    few = replace(night, free={"datasets": 100 * NIGHTS - 1, "registry": 100 * NIGHTS})
    assert few.short() == ["datasets"]


def test_it_is_json_for_other_programs(registry: Registry, datasets: Path) -> None:
    with recording(registry, datasets) as recorder:
        recorder.end("done")
    report = json.loads(registry.read(STATE) or b"")
    assert report["format"] == 1
    assert datetime.fromisoformat(report["began"]) <= datetime.fromisoformat(report["ended"])
