"""The host: its clock, and the room on its disks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from birthmark.data.common.sizes import in_words
from birthmark.doctor.findings import Fault, Finding
from birthmark.doctor.site import Site
from birthmark.training.nightly.horizon import AHEAD
from birthmark.training.nightly.state import NIGHTS

LEAST_BYTES = 1 << 30
"""Less than this is little on any disk."""

LEAST_FILES = 10_000
"""So many more files there should be room for: a night makes hundreds."""

_SOON = timedelta(minutes=5)


def clock(site: Site) -> Iterator[Finding]:
    """Find times that are still to come: a clock is, or was, wrong."""
    for dataset in site.held:
        if dataset.until > site.now + AHEAD:
            what = f"reaches to {_shown(dataset.until)}, after this host's clock"
            do = (
                "set this host's clock (timedatectl) or that of whoever captures: nothing is"
                " learned from it until then"
            )
            yield Fault(what, str(dataset.path), do)
    stored = site.registry.versions()
    if stored:
        made = datetime.strptime(stored[-1][:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if made > site.now + AHEAD:
            what = f"was made at {_shown(made)}, after this host's clock"
            do = "set this host's clock; if it is right, versions to come are named after that one"
            yield Fault(what, f"{site.registry.place}/versions/{stored[-1]}", do)
    night = site.night
    if night is not None and max(night.began, night.ended or night.began) > site.now + _SOON:
        what = f"the last night began at {_shown(night.began)}, after this host's clock"
        yield Fault(what, site.registry.place, "set this host's clock: it was set back since")


def _shown(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M} (UTC)"


def space(site: Site) -> Iterator[Finding]:
    """Find disks that are nearly full: of bytes, or of files."""
    own = site.installed
    written = site.night.written if site.night else 0
    least = max(LEAST_BYTES, NIGHTS * written)
    seen: set[int] = set()
    for path in filter(None, (own.datasets, own.registry, own.log, own.followed)):
        if not isinstance(path, Path) or not path.is_dir():
            continue
        device = path.stat().st_dev
        if device not in seen:
            seen.add(device)
            yield from _disk(path, os.statvfs(path), least)


def _disk(path: Path, disk: os.statvfs_result, least: int) -> Iterator[Finding]:
    free = disk.f_bavail * disk.f_frsize
    if free < least:
        what = f"{in_words(free)} free on its disk, and {NIGHTS} nights want {in_words(least)}"
        do = "make room, or set datasets.keep_days and registry.keep_versions"
        yield Fault(what, str(path), do)
    if disk.f_files and disk.f_favail < LEAST_FILES:
        what = f"room for {disk.f_favail:,} more files on its disk (inodes)"
        yield Fault(what, str(path), "remove small files there, or make the file system anew")
