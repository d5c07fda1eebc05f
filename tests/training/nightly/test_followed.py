"""A night trains from the hours that a follower wrote, as from a capture of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from birthmark.data.datasets.tables import read_table
from birthmark.data.follow.run import Follower, follow
from birthmark.data.ingest.run import ingest
from birthmark.data.settings import Following
from birthmark.training.config import Config, Datasets, Engine, Followed, RegistryConfig, Training
from birthmark.training.nightly import run as nightly
from birthmark.training.nightly.followed import take_in_hours
from birthmark.training.nightly.intake import check, datasets
from birthmark.training.nightly.retention import removable, remove
from birthmark.training.registry.versions import Registry
from tests.builders.followed import hours, rows

HOURS = Following(until_idle=0.01)


def follow_until(trace: Path, out: Path, operations: int) -> None:
    """Follow a trace, and stop after about so many operations."""
    with Follower(trace, out, Following()) as follower:
        while follower.go_on():
            if follower.status.operations >= operations:
                follower.stop()


def test_hours_make_the_dataset_that_ingest_makes(tmp_path: Path, traces: list[str]) -> None:
    trace = tmp_path / "day.txt"
    trace.write_text(traces[0])
    ingest([trace], tmp_path / "ingested")
    follow(trace, tmp_path / "followed", HOURS)
    made = take_in_hours(tmp_path / "followed", tmp_path / "datasets")
    assert made is not None
    assert rows(made) == rows(tmp_path / "ingested")
    assert take_in_hours(tmp_path / "followed", tmp_path / "datasets") is None
    (dataset,) = datasets(tmp_path / "datasets")
    check(made)
    report = json.loads((made / "intake.json").read_bytes())["summary"]
    (record,) = (tmp_path / "ingested" / "ingests").iterdir()
    ingested = json.loads(record.read_bytes())
    for name in ("records_in", "records_out", "procedures", "rows", "period", "loss"):
        assert report[name] == ingested[name]
    assert sum(dataset.births.values()) > 50


def test_a_file_that_outlasts_a_night_is_in_it_and_in_no_other(
    tmp_path: Path, traces: list[str]
) -> None:
    trace, out, made = tmp_path / "day.txt", tmp_path / "followed", []
    lines = traces[0].splitlines(keepends=True)
    half = len(lines) // 4 * 2
    for some in (lines[:half], lines[half:]):
        with trace.open("a") as file:
            file.write("".join(some))
        follow_until(trace, out, len(some) // 2 - 10)
        night = take_in_hours(out, tmp_path / "datasets")
        assert night is not None
        made.append(read_table(night, "files", ["fh", "first_seen", "died"]).to_pylist())
    first, second = ({row["fh"] for row in rows} for rows in made)
    assert first
    assert second
    assert not first & second
    ingest([trace], tmp_path / "ingested")
    whole = read_table(tmp_path / "ingested", "files", ["fh"]).to_pylist()
    assert first | second == {row["fh"] for row in whole}
    assert any(row["died"] is None for row in made[0])


@pytest.mark.deep
def test_a_night_trains_from_followed_hours(tmp_path: Path, traces: list[str]) -> None:
    (tmp_path / "day.txt").write_text(traces[0])
    follow(tmp_path / "day.txt", tmp_path / "followed", HOURS)
    (tmp_path / "day.txt").unlink()
    config = Config(
        follow=Followed(datasets=tmp_path / "followed"),
        datasets=Datasets(directory=tmp_path / "datasets"),
        registry=RegistryConfig(directory=tmp_path / "registry"),
        training=Training(trees=4, rounds=2),
        engine=Engine(workers=1),
    )
    night = nightly.nightly(config)
    assert night.version is not None
    assert night.current == night.version
    assert len(night.trained_on) == 1
    assert nightly.nightly(config).version is None


def test_hours_that_were_taken_in_are_removed_when_they_are_old_but_never_the_last(
    tmp_path: Path, traces: list[str]
) -> None:
    out, directory = tmp_path / "followed", tmp_path / "datasets"
    for day in (0, 2):
        with (tmp_path / "days.txt").open("a") as file:
            file.write(traces[day])
        follow(tmp_path / "days.txt", out, HOURS)
    first, last = hours(out)
    config = Config(
        follow=Followed(datasets=out),
        datasets=Datasets(directory=directory, keep_days=1),
        registry=RegistryConfig(directory=tmp_path / "registry"),
        training=Training(window_days=1),
    )
    registry = Registry(config.registry.directory)
    assert removable(config, registry, datasets(directory)).hours == []
    assert take_in_hours(out, directory) is not None
    going = removable(config, registry, datasets(directory))
    assert (going.datasets, going.hours) == ([], [first])
    remove(config, registry, going)
    assert hours(out) == [last]
    assert take_in_hours(out, directory) is None
    assert removable(config, registry, datasets(directory)).hours == []
