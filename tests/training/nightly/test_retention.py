"""Old datasets, hours and versions go where a site wants it, and nothing that is rested on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from birthmark.data.common import durable
from birthmark.training.config import Config, Datasets, RegistryConfig, Traces, Training
from birthmark.training.nightly.intake import INTAKE, Dataset, known
from birthmark.training.nightly.retention import removable, remove
from birthmark.training.registry.versions import Registry

FIRST = datetime(2026, 11, 1, 23, tzinfo=UTC)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "registry")


def configured(place: Path, days: float | None = None, versions: int | None = None) -> Config:
    return Config(
        traces=Traces(files=[str(place / "*")]),
        datasets=Datasets(directory=place / "datasets", keep_days=days),
        registry=RegistryConfig(directory=place / "registry", keep_versions=versions),
        training=Training(window_days=3),
    )


def made(place: Path, days: int) -> list[Dataset]:
    """Make datasets of so many days, called by their numbers."""
    found = []
    for number in range(days):
        path, until = place / "datasets" / f"day{number}", FIRST + timedelta(days=number)
        path.mkdir(parents=True)
        trace = {"path": f"/traces/{number}", "size": 7, "mtime_ns": number}
        (path / INTAKE).write_text(json.dumps({"traces": [trace]}))
        born = {date(2026, 11, 1 + number): 1}
        found.append(Dataset(path, until - timedelta(days=1), until, born))
    return found


def learned(registry: Registry, *datasets: str, compared_with: str | None = None) -> str:
    """Publish a version that learned from these."""
    report = {"trained_on": {"datasets": datasets}, "compared_with": compared_with}
    return registry.publish(lambda to: (to / "part").write_text("part"), report)


def names(datasets: Sequence[Path]) -> list[str]:
    return [path.name for path in datasets]


def test_nothing_goes_unless_it_is_wanted(tmp_path: Path, registry: Registry) -> None:
    held = made(tmp_path, 9)
    for _ in range(3):
        learned(registry, "day8")
    going = removable(configured(tmp_path), registry, held)
    assert (going.datasets, going.hours, going.versions) == ([], [], [])


def test_datasets_go_by_their_age_but_never_what_the_published_model_learned_from(
    tmp_path: Path, registry: Registry
) -> None:
    held, config = made(tmp_path, 9), configured(tmp_path, days=4)
    learned(registry, "day0")
    learned(registry, "day1", "day2")
    going = removable(config, registry, held, made=["day3"])
    assert names(going.datasets) == []
    learned(registry, "day8")  # a rollback goes back to that of the first two days
    assert names(removable(config, registry, held, made=["day3"]).datasets) == ["day0"]
    registry.pin(registry.versions()[0])
    assert names(removable(config, registry, held).datasets) == ["day1", "day2", "day3"]


def test_removed_datasets_are_not_ingested_again(tmp_path: Path, registry: Registry) -> None:
    held, config = made(tmp_path, 9), configured(tmp_path, days=4)
    before = known(tmp_path / "datasets")
    remove(config, registry, removable(config, registry, held))
    left = sorted(path.name for path in (tmp_path / "datasets").iterdir())
    assert left == ["day4", "day5", "day6", "day7", "day8", "ledger.json"]
    assert known(tmp_path / "datasets") == before


def test_a_removal_that_was_killed_is_finished_by_the_next(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, config = made(tmp_path, 9), configured(tmp_path, days=4)
    before = known(tmp_path / "datasets")

    really = durable.remove

    def killed(path: Path) -> None:
        if path.suffix == ".gone":
            raise KeyboardInterrupt(path)
        really(path)

    going = removable(config, registry, held)
    with monkeypatch.context() as patched:
        patched.setattr(durable, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(config, registry, going)
    assert (tmp_path / "datasets" / ".day0.gone").is_dir()
    assert known(tmp_path / "datasets") == before
    remove(config, registry, removable(config, registry, held[1:]))
    left = sorted(path.name for path in (tmp_path / "datasets").iterdir())
    assert left == ["day4", "day5", "day6", "day7", "day8", "ledger.json"]


def test_the_last_followed_dataset_stays_by_which_the_next_knows_its_lives(
    tmp_path: Path, registry: Registry
) -> None:
    held, config = made(tmp_path, 9), configured(tmp_path, days=4)
    for number in (0, 1):
        path = tmp_path / "datasets" / f"day{number}" / INTAKE
        report = json.loads(path.read_text()) | {"followed_until": number}
        path.write_text(json.dumps(report))
    assert names(removable(config, registry, held).datasets) == ["day0", "day2", "day3"]


def test_versions_go_but_not_those_that_the_published_one_rests_on(
    tmp_path: Path, registry: Registry
) -> None:
    config = configured(tmp_path, versions=1)
    first = learned(registry)
    more = [learned(registry) for _ in range(3)]
    current = learned(registry, compared_with=first)
    going = removable(config, registry, [])
    assert going.versions == more[:2]
    assert len(registry.versions()) == 5
    remove(config, registry, going)
    assert registry.versions() == [first, more[2], current]
    assert registry.current() == current


def test_the_training_window_is_always_retained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no less than training\.window_days"):
        configured(tmp_path, days=2.5)
