"""Damaged files, and a clock that went back: the nightly run takes nothing for what it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

import pyarrow.parquet as pq
import pytest

from data.datasets import read_table
from tests.faults.damage import KINDS, damaged
from tests.faults.site import WRITTEN, Site

Tell = Callable[[str], None]


@pytest.mark.parametrize(
    "part", ["manifest.json", "name-rules.arrow", "images/name-accurate.image"]
)
def test_a_damaged_version_is_named_and_nothing_is_made_of_it(
    part: str, site: Site, tell: Tell
) -> None:
    path = site.registry.directory(site.first) / part
    for kind in KINDS:
        with damaged(path, kind):
            assert site.night() == 1
            assert str(path) in site.said()
            assert site.models("verify") == 1
            assert str(path) in site.said()
            assert site.models("list") == 0
            assert site.first in site.said()
    assert site.registry.versions() == [site.first]
    assert site.count() == site.rows  # the traces were taken in all the same
    tell(f"{part} of the published version {', '.join(KINDS)}: refused, and named")
    if part == "manifest.json":
        assert site.night() == 0, site.said()
        assert site.differences() == []


def test_a_damaged_dataset_is_named_and_nothing_is_learned_from_it(site: Site, tell: Tell) -> None:
    tables = sorted(site.home.glob("datasets/2*/*/*/*/*.parquet"))
    (files,) = (path for path in tables if "/files/" in str(path))
    (names,) = (path for path in tables if "/names/" in str(path))
    for path in (files, names):
        for kind in KINDS:
            with damaged(path, kind):
                assert site.night() == 1
                assert str(path.parents[2]) in site.said()
    assert site.registry.versions() == [site.first]
    assert site.night() == 0, site.said()
    assert site.differences() == []
    tell(f"Parquet of a dataset {', '.join(KINDS)}: refused, and named; then finished")


def test_a_damaged_trace_is_refused_and_keeps_no_other_waiting(site: Site, tell: Tell) -> None:
    operations = read_table(next(site.home.glob("datasets/2*")), "operations")
    trace = site.home / "traces" / "day9.parquet"
    pq.write_table(operations, trace, compression="zstd", write_page_checksum=True)
    for kind in KINDS:
        with damaged(trace, kind):
            os.utime(trace, (WRITTEN, WRITTEN))
            assert site.night() == 65, site.said()
            assert trace.name in site.said()
            assert site.count() == site.rows
    os.utime(trace, (WRITTEN, WRITTEN))
    assert site.night() == 0, site.said()
    assert site.count() == site.rows + len(operations)
    tell(
        f"a trace as Parquet {', '.join(KINDS)}: refused; {site.rows} operations of others taken in"
    )


def test_a_clock_that_went_back_loses_no_trace_and_no_version(site: Site, tell: Tell) -> None:
    """The command itself, in a world where the traces and the first version are of the future."""
    if shutil.which("faketime") is None:
        pytest.skip("needs faketime, of Debian's package of that name")
    command = [sys.executable, "-m", "birthmark", "nightly"]
    found = subprocess.run(
        ["faketime", "2001-09-01 00:00:00", *command, "--config", site.home / "birthmark.toml"],
        env={**os.environ, "FAKETIME_DONT_FAKE_MONOTONIC": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    created = site.registry.manifest(str(site.registry.current()))["created"]
    assert created.startswith("2001-")
    assert site.registry.versions()[-1] == site.registry.current() > site.first
    assert site.differences() == []
    done = site.state()
    assert site.night() == 0  # the clock is right again
    assert site.state() == done
    tell(f"the clock at 2001: {site.rows} operations taken in, version named after {site.first}")
