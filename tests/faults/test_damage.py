"""Damaged files, and a clock that went back: the nightly run is never misled."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark.data.datasets.tables import read_table
from birthmark.training.registry.versions import Registry
from tests.faults.damage import KINDS, damaged
from tests.faults.site import WRITTEN, Site

pytestmark = pytest.mark.deep

Tell = Callable[[str], None]


@pytest.mark.parametrize("part", ["manifest.json", "models.zip", "model.image"])
def test_a_damaged_version_is_named_and_nothing_is_made_of_it(
    part: str, site: Site, tell: Tell
) -> None:
    path = site.registry.directory(site.first) / part
    for kind in KINDS:
        with damaged(path, kind):
            assert site.night() == 1
            assert str(path) in site.output()
            assert site.models("verify") == 1
            assert str(path) in site.output()
            assert site.models("list") == 0
            assert site.first in site.output()
    assert site.registry.versions() == [site.first]
    assert site.count() == site.rows  # the traces were still ingested
    tell(f"{part} of the published version {', '.join(KINDS)}: refused, and named")


def test_a_damaged_dataset_is_named_and_nothing_is_learned_from_it(site: Site, tell: Tell) -> None:
    tables = sorted(site.home.glob("datasets/2*/*/*/*/*.parquet"))
    (files,) = (path for path in tables if "/files/" in str(path))
    (names,) = (path for path in tables if "/names/" in str(path))
    for path in (files, names):
        for kind in KINDS:
            with damaged(path, kind):
                assert site.night() == 1
                assert str(path) in site.output()
    assert site.registry.versions() == [site.first]
    assert site.night() == 0, site.output()
    assert site.differences() == []
    tell(f"Parquet of a dataset {', '.join(KINDS)}: refused, and named; then finished")


def test_a_damaged_trace_is_refused_and_keeps_no_other_waiting(site: Site, tell: Tell) -> None:
    operations = read_table(next(site.home.glob("datasets/2*")), "operations")
    trace = site.home / "traces" / "day9.parquet"
    pq.write_table(operations, trace, compression="zstd", write_page_checksum=True)
    for kind in KINDS:
        with damaged(trace, kind):
            os.utime(trace, (WRITTEN, WRITTEN))
            assert site.night() == 65, site.output()
            assert trace.name in site.output()
            assert site.count() == site.rows
    os.utime(trace, (WRITTEN, WRITTEN))
    assert site.night() == 0, site.output()
    assert site.count() == site.rows + len(operations)
    tell(
        f"a trace as Parquet {', '.join(KINDS)}: refused; {site.rows} operations of others ingested"
    )


def test_a_clock_that_went_back_loses_no_trace_and_no_version(site: Site, tell: Tell) -> None:
    """All files come from a year ahead, as if the clock had been set back since."""
    ahead = datetime.now(UTC) + timedelta(days=365)
    for trace in (site.home / "traces").iterdir():
        if trace.name != "day0.txt":
            os.utime(trace, (ahead.timestamp(), ahead.timestamp()))
    stored = site.registry.directory(site.first)

    def write_parts(directory: Path) -> None:
        shutil.copytree(stored, directory, dirs_exist_ok=True)
        (directory / "manifest.json").unlink()

    manifest = site.registry.manifest(site.first)
    clock = Registry(site.home / "registry", clock=lambda: ahead)
    before = clock.publish(write_parts, manifest)
    assert site.night() == 0, site.output()
    assert site.count() == site.rows
    assert site.registry.versions() == [site.first, before, site.registry.current()]
    assert site.served()[0] > before
    done = site.state()
    assert site.night() == 0
    assert site.state() == done
    tell(f"the clock a year back: {site.rows} operations are ingested, the new version is the last")
