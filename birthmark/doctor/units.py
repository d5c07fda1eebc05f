"""Units of systemd: whether they match this release and the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from birthmark.doctor.site import Fault, Finding, Note, Site
from birthmark.install import Site as Installed
from birthmark.install import files

_SYSTEMD = Path("/run/systemd/system")
"""Present if systemd runs (sd_booted(3))."""

_TIMER = Path("timers.target.wants", "birthmark-nightly.timer")


def units(site: Site) -> Iterator[Finding]:
    """Find units that are missing or outdated, and a timer that is off."""
    place = site.units
    there = {path.name for path in place.glob("birthmark*")} if place.is_dir() else set()
    if not there:
        why = "is not run" if not _SYSTEMD.is_dir() else "has none: is it run by cron?"
        yield Note(f"systemd {why}")
        return
    make = f"birthmark install systemd --config {site.installed.config} --out {place}"
    for file in files("systemd", _as_installed(site)):
        path = place / file.path.name
        if not path.is_file():
            yield Fault("is missing", str(path), f"{make}; systemctl daemon-reload")
        elif path.read_text(errors="replace") != file.text:
            what = "differs from this release's unit for the configuration"
            yield Fault(what, str(path), f"{make}; systemctl daemon-reload, and restart it")
    if not (place / _TIMER).exists():
        what = "the timer is not enabled, so no night starts"
        yield Fault(what, str(place / _TIMER), "systemctl enable --now birthmark-nightly.timer")


def _as_installed(site: Site) -> Installed:
    """Return the site with the socket that its unit has."""
    socket = site.variables.get("BIRTHMARK_UDS")
    own = site.installed
    return Installed(own.config, own.settings, own.user, Path(socket) if socket else None)
