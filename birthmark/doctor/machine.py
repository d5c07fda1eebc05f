"""The host: its clock, and free space on its disks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from birthmark.data.common.sizes import in_words
from birthmark.doctor.site import Fault, Finding, Site
from birthmark.training.nightly.horizon import AHEAD
from birthmark.training.nightly.state import NIGHTS

LEAST_BYTES = 1 << 30
"""Least free space on any disk, in bytes."""

LEAST_FILES = 10_000
"""Least number of free inodes: a night makes hundreds of files."""

_SOON = timedelta(minutes=5)


def clock(site: Site) -> Iterator[Finding]:
    """Find times in the future: a clock is, or was, wrong."""
    for dataset in site.held:
        if dataset.until > site.now + AHEAD:
            what = f"ends at {_shown(dataset.until)}, after this host's time"
            do = (
                "set this host's clock (timedatectl) or the capturing host's: training"
                " leaves the dataset out until then"
            )
            yield Fault(what, str(dataset.path), do)
    stored = site.registry.versions()
    if stored:
        made = datetime.strptime(stored[-1][:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if made > site.now + AHEAD:
            what = f"was made at {_shown(made)}, after this host's time"
            do = "set this host's clock; if it is right, later versions are named after that one"
            yield Fault(what, f"{site.registry.place}/versions/{stored[-1]}", do)
    night = site.night
    if night is not None and max(night.began, night.ended or night.began) > site.now + _SOON:
        what = f"the last night began at {_shown(night.began)}, after this host's time"
        yield Fault(what, site.registry.place, "correct this host's clock: it was set back")


def _shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} (UTC)"


def space(site: Site) -> Iterator[Finding]:
    """Find disks that are nearly out of bytes or inodes."""
    own = site.installed
    written = site.night.written if site.night else 0
    least = max(LEAST_BYTES, NIGHTS * written)
    checked: set[int] = set()
    for path in filter(None, (own.datasets, own.registry, own.log, own.followed)):
        if not isinstance(path, Path) or not path.is_dir():
            continue
        device = path.stat().st_dev
        if device not in checked:
            checked.add(device)
            yield from _disk(path, os.statvfs(path), least)


def _disk(path: Path, disk: os.statvfs_result, least: int) -> Iterator[Finding]:
    free = disk.f_bavail * disk.f_frsize
    if free < least:
        what = f"{in_words(free)} free on its disk, and {NIGHTS} nights need {in_words(least)}"
        do = "make room, or set datasets.keep_days and registry.keep_versions"
        yield Fault(what, str(path), do)
    if disk.f_files and disk.f_favail < LEAST_FILES:
        what = f"room for {disk.f_favail:,} more files on its disk (inodes)"
        yield Fault(what, str(path), "remove small files there, or make the file system again")
