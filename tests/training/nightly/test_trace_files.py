"""An inaccessible directory does not count as one without traces."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from birthmark.training.config import Config, Datasets, Engine, RegistryConfig, Traces
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
def somebody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be a user whom permissions bind, as they do not bind the superuser.

    What a test changes by ``monkeypatch``, such as the folder, is put back afterwards, by the user
    who was there before: nobody else may be able to enter it.
    """
    del monkeypatch
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
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
        traces: f"{traces}: is closed to this user; expected to find traces there"
    }


@pytest.mark.usefixtures("somebody")
def test_a_directory_that_can_only_be_searched_is_enough_for_a_name(place: Path) -> None:
    traces = shut(place / "traces", 0o111)
    assert unreachable([str(traces / "monday.pcap")]) == {}
    assert list(unreachable([str(traces / "*.pcap")])) == [str(traces)]


@pytest.mark.usefixtures("somebody")
def test_open_directories_and_wildcards_that_may_yet_match_are_not_reported(place: Path) -> None:
    shut(place / "open", 0o755)
    assert unreachable([str(place / glob) for glob in ("open/*", "open/**", "*/none/*.pcap")]) == {}


def test_a_directory_that_a_glob_begins_with_and_that_is_not_there_is_named(place: Path) -> None:
    none = str(place / "none")
    assert unreachable([f"{none}/*", f"{none}/*/*.pcap"]) == {
        none: f"{none}: is not a directory; expected to find traces there"
    }


def test_a_glob_without_a_match_is_reported_with_the_directorys_contents(place: Path) -> None:
    assert unmatched([f"{place}/*.pcap"]) == [f"{place}/*.pcap: no file matches; {place} is empty"]
    (place / "monday.pcap.xz").touch()
    (report,) = unmatched([f"{place}/*.pcap", f"{place}/*.xz", f"{place}/none/*"])
    assert report.endswith(f"*.pcap: no file matches; {place} holds 1, such as monday.pcap.xz")


@pytest.mark.usefixtures("somebody")
def test_a_glob_without_a_match_in_an_unlistable_directory_is_reported(place: Path) -> None:
    traces = shut(place / "traces", 0o111)
    assert unmatched([f"{traces}/monday.pcap"]) == [
        f"{traces}/monday.pcap: no file matches; {traces} cannot be listed"
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
        registry=RegistryConfig(directory=place / "registry"),
        engine=Engine(workers=1),
    )
    assert list(nightly(config).refused) == [traces]
