"""The capture, the follower, and their datasets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from birthmark.data.common import durable
from birthmark.data.common.plurals import counted
from birthmark.data.traces import unread
from birthmark.doctor.site import Fault, Finding, Note, Site
from birthmark.training.engine import SCRATCH
from birthmark.training.nightly.intake import INCOMING, INTAKE
from birthmark.training.nightly.state import LATE
from birthmark.training.nightly.trace_files import beginning, matching
from birthmark_native import SharedHistory

LOSS = 0.01
"""Share of lost messages that is a fault (0 to 1), as in the service."""

CUT = 0.01
"""Greatest share of messages cut short."""

ONE_WAY = 0.1
"""Least ratio of replies to calls, and of calls to replies, if both directions are captured."""

SILENT = timedelta(minutes=1)
"""Age at which the follower's status, written each second, is stale."""

_LONG = timedelta(days=1)


def capture(site: Site) -> Iterator[Finding]:
    """Find a capture that stopped or loses messages, by its newest dataset."""
    if site.installed.settings.globs:
        yield from _stopped(site)
    datasets = site.installed.datasets
    if _is_closed(datasets):
        yield Note(f"the quality of the capture: {datasets} cannot be listed by this user")
        return
    newest = _newest(datasets)
    if newest is None:
        yield Note("the quality of the capture: there is no dataset yet")
        return
    yield from _ill(newest.parent, json.loads(newest.read_bytes())["summary"])


def _newest(datasets: Path) -> Path | None:
    """Return the summary of the newest dataset, even of an empty one."""
    summaries = datasets.glob(f"[!.]*/{INTAKE}")
    return max(summaries, key=lambda path: (path.stat().st_mtime_ns, path), default=None)


def _is_closed(place: Path) -> bool:
    """Return whether a directory is there that this process cannot list."""
    return place.is_dir() and not os.access(place, os.R_OK | os.X_OK)


def _stopped(site: Site) -> Iterator[Finding]:
    globs = site.installed.settings.globs
    changed = [path.stat().st_mtime for path in matching(globs)]
    closed = [str(place) for place in map(beginning, map(Path, globs)) if _is_closed(place)]
    if closed:
        yield Note(f"whether traces come: {', '.join(closed)} cannot be listed by this user")
    elif not changed:
        do = "start the capture; check that it writes to traces.files"
        yield Fault("there is no trace", ", ".join(globs), do)
    if not changed:
        return
    newest = datetime.fromtimestamp(max(changed), UTC)
    if site.now - newest > LATE:
        what = f"the newest trace was written {(site.now - newest).days} days ago"
        do = "start the capture again (systemctl status birthmark-capture)"
        yield Fault(what, ", ".join(globs), do)


def _ill(dataset: Path, summary: Mapping[str, Any]) -> Iterator[Finding]:
    calls, replies = _messages(summary)
    orphans, captures = sum(summary["replies_without_call"].values()), _captures(summary)
    messages = calls + replies + orphans
    unreadable = unread.findings(unread.total(captures))
    for each in unreadable:
        yield Fault(each.what, str(dataset), each.do)
    if not messages and unreadable:
        return
    if not messages:
        do = "capture port 2049 of the file server, as it is mounted: see Capture"
        yield Fault("its traces hold no NFS", str(dataset), do)
        return
    if replies < ONE_WAY * calls or calls < ONE_WAY * orphans:
        which = "replies" if replies < ONE_WAY * calls else "calls"
        do = "mirror both directions of the server's port, or capture on the server"
        yield Fault(f"hardly any {which} were captured: one direction is missing", str(dataset), do)
        return
    cut = summary["short"]
    if not captures and cut > CUT * messages:
        what = f"{counted(cut, 'messages')} of {messages:,} were cut by the capture"
        yield Fault(what, str(dataset), "capture whole packets: tcpdump -s 0")
    loss = summary.get("loss")
    if loss and loss["fraction"] > LOSS:
        what = f"{100 * loss['fraction']:.1f}% of the messages were lost on the way to the traces"
        do = "capture with a larger buffer (tcpdump -B 65536), on a faster disk, on the server"
        yield Fault(what, str(dataset), do)


def _captures(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the capture counts of each of a dataset's traces."""
    traces = summary.get("traces", ())
    return [found for each in traces if (found := each.get("details", {}).get("capture"))]


def _messages(summary: Mapping[str, Any]) -> tuple[int, int]:
    tallies = summary["procedures"].values()
    calls, replies = (sum(each.get(name, 0) for each in tallies) for name in ("calls", "replies"))
    return calls, replies


def follower(site: Site) -> Iterator[Finding]:
    """Find a follower that is dead, behind or lossy, and a stale live history."""
    own, settings = site.installed, site.settings
    if own.status is not None:
        yield from _followed(site, own.status)
    history = settings.history or own.history
    if history is None:
        return
    limits = settings.history_age, settings.history_lag, settings.history_loss
    status = SharedHistory(history, *limits).status()
    if status["why"] is not None:
        do = "check the follower: systemctl status birthmark-follow; restart starts it again"
        yield Fault(f"the live history is not used: {status['says']}", str(history), do)


def _followed(site: Site, path: Path) -> Iterator[Finding]:
    log = "journalctl --unit birthmark-follow says why"
    if not path.is_file():
        do = f"systemctl enable --now birthmark-follow; {log}"
        yield Fault("no follower writes its status", str(path), do)
        return
    summary = json.loads(path.read_bytes())
    age = site.now - datetime.fromisoformat(summary["now"])
    if age > SILENT or summary["state"] == "ended":
        what = f"the follower's last status is of {summary['now'][:19]}: {summary['state']}"
        yield Fault(what, str(path), f"systemctl restart birthmark-follow; {log}")
        return
    if (summary["lag"] or 0) > site.settings.history_lag:
        what = f"the follower is {summary['lag']:,.0f} s behind the traffic"
        do = "give it more of the processor, or follow less (a server of several)"
        yield Fault(what, str(path), do)
    if summary.get("unread"):
        do = "correct the capture or the mount: see Capture"
        yield Fault(f"the follower cannot read all: {summary['unread']}", str(path), do)
    if summary["dropped"]:
        what = (
            f"the capture dropped {counted(summary['dropped'], 'packets')} since the follower began"
        )
        yield Fault(what, str(path), "capture with a larger buffer (tcpdump -B 65536)")


def datasets_(site: Site) -> Iterator[Finding]:
    """Find leftovers of a killed run, a lock that is held, and damaged tables.

    Only sizes of tables are compared; the nightly run compares the checksums of its inputs.
    """
    place = site.installed.datasets
    if not place.is_dir():
        return
    at_work = is_held(place / ".lock")
    night = site.night
    if at_work and night is not None and night.is_open and site.now - night.began > _LONG:
        what = f"a night has been at work since {night.began:%Y-%m-%d %H:%M} (UTC)"
        do = "check its progress (journalctl --unit birthmark-nightly); if it hangs, kill it"
        yield Fault(what, str(place / ".lock"), do)
    left = [*durable.left_in(place), *place.glob(f"{SCRATCH}*"), *place.glob(INCOMING)]
    if left and not at_work:
        what = f"a run that was killed left {counted(len(left), 'things')}"
        yield Fault(
            what, str(left[0]), "run birthmark nightly: it finishes the work, and cleans up"
        )
    for dataset in site.held:
        yield from _changed(dataset.path)


def _changed(dataset: Path) -> Iterator[Finding]:
    for name, expected in json.loads((dataset / INTAKE).read_bytes()).get("tables", {}).items():
        path = dataset / name
        size = path.stat().st_size if path.is_file() else None
        if size != expected["size"]:
            found = "is gone" if size is None else f"has {counted(size, 'bytes')}"
            do = f"restore it, or remove {dataset} and touch its traces ({INTAKE} names them)"
            yield Fault(f"{found}; expected {counted(expected['size'], 'bytes')}", str(path), do)


def is_held(lock: Path) -> bool:
    """Return whether a process holds a lock."""
    if not lock.exists():
        return False
    try:
        with durable.locked(lock, wait=False):
            return False
    except durable.LockedError:
        return True
