"""A directory that cannot be looked into is not taken for one without traces."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from birthmark.training.config import Config, Datasets, Engine, Place, Traces
from birthmark.training.nightly.run import nightly
from birthmark.training.nightly.trace_files import unmatched, unreachable

NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a directory that everybody may come to, as not all of pytest's are."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o777)
        yield Path(directory)
        for path in Path(directory).iterdir():
            path.chmod(0o755)


@pytest.fixture
def somebody() -> Iterator[None]:
    """Be a user whom permissions bind, as they do not bind the superuser."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    yield
    os.seteuid(before)


def shut(path: Path, mode: int = 0) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


@pytest.mark.usefixtures("somebody")
@pytest.mark.parametrize("glob", ["traces/*", "traces/home1/*.pcap", "*/a.pcap", "traces/**/*"])
def test_a_directory_that_is_closed_is_named(place: Path, glob: str) -> None:
    traces = str(shut(place / "traces"))
    assert unreachable([str(place / glob)]) == {
        traces: f"{traces}: is closed to the user that this runs as; expected to find traces there"
    }


@pytest.mark.usefixtures("somebody")
def test_a_directory_that_can_only_be_searched_is_enough_for_a_name(place: Path) -> None:
    traces = shut(place / "traces", 0o111)
    assert unreachable([str(traces / "monday.pcap")]) == {}
    assert list(unreachable([str(traces / "*.pcap")])) == [str(traces)]


@pytest.mark.usefixtures("somebody")
def test_what_is_open_is_not_named_nor_what_a_wildcard_may_yet_match(place: Path) -> None:
    shut(place / "open", 0o755)
    assert unreachable([str(place / glob) for glob in ("open/*", "open/**", "*/none/*.pcap")]) == {}


def test_a_directory_that_a_glob_begins_with_and_that_is_not_there_is_named(place: Path) -> None:
    none = str(place / "none")
    assert unreachable([f"{none}/*", f"{none}/*/*.pcap"]) == {
        none: f"{none}: is no directory; expected to find traces there"
    }


def test_a_glob_that_matches_no_file_is_told_with_what_there_is(place: Path) -> None:
    assert unmatched([f"{place}/*.pcap"]) == [
        f"{place}/*.pcap: no file is called so; {place} is empty"
    ]
    (place / "monday.pcap.xz").touch()
    (told,) = unmatched([f"{place}/*.pcap", f"{place}/*.xz", f"{place}/none/*"])
    assert told.endswith(f"*.pcap: no file is called so; {place} holds 1, such as monday.pcap.xz")


@pytest.mark.usefixtures("somebody")
def test_a_glob_that_matches_no_file_where_nothing_can_be_listed_is_told(place: Path) -> None:
    traces = shut(place / "traces", 0o111)
    assert unmatched([f"{traces}/monday.pcap"]) == [
        f"{traces}/monday.pcap: no file is called so; {traces} cannot be listed"
    ]


@pytest.mark.usefixtures("somebody")
def test_a_glob_may_be_relative(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shut(place / "traces")
    monkeypatch.chdir(place)
    assert list(unreachable(["traces/home1/*", "*", "traces/*.pcap", ".", "/"])) == ["traces"]


@pytest.mark.usefixtures("somebody")
def test_the_nightly_run_refuses_a_closed_directory(place: Path) -> None:
    traces = str(shut(place / "traces"))
    config = Config(
        traces=Traces(files=[f"{traces}/*"]),
        datasets=Datasets(directory=place / "datasets"),
        registry=Place(directory=place / "registry"),
        engine=Engine(workers=1),
    )
    assert list(nightly(config).refused) == [traces]
