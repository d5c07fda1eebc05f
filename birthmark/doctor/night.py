"""The nightly run: whether the last one succeeded, and recently."""

from __future__ import annotations

from collections.abc import Iterator

from birthmark.data.common.plurals import counted
from birthmark.doctor.site import Fault, Finding, Site
from birthmark.doctor.traffic import is_held
from birthmark.training.nightly.state import NightState, read

_LOG = "journalctl --unit birthmark-nightly"
_START = "birthmark nightly, or systemctl start birthmark-nightly"


def nights(site: Site) -> Iterator[Finding]:
    """Find a night that failed, was killed, refused traces, or is overdue."""
    night = read(site.registry)
    place = site.registry.place
    if night is None:
        yield Fault("no night was run yet", place, f"start one: {_START}")
        return
    if night.is_open and not is_held(site.installed.datasets / ".lock"):
        what = f"the night that began at {night.began:%Y-%m-%d %H:%M} (UTC) was killed"
        do = f"find the cause ({_LOG}; dmesg, if memory ran out); start it again: it resumes"
        yield Fault(what, place, do)
    elif night.outcome == "failed":
        times = f"{night.failures} times in a row" if night.failures > 1 else "once"
        what = f"the last night failed, {times}: {night.why}"
        yield Fault(what, place, f"correct it, and start it again: {_START}")
    elif night.late(site.now):
        yield _late(night, place)
    if refused := night.did.get("refused"):
        what = f"the last night refused {counted(refused, 'traces or directories')}"
        do = f"{_LOG} names them and the reasons: repair or remove them"
        yield Fault(what, place, do)
    if left_out := night.did.get("left_out"):
        are = "is" if left_out == 1 else "are"
        what = f"{counted(left_out, 'datasets')} of the last night {are} left out of training"
        yield Fault(
            what, place, f"{_LOG} names them and the reasons; for a quieter site, set least_births"
        )


def _late(night: NightState, place: str) -> Fault:
    last = f"{night.succeeded:%Y-%m-%d %H:%M} (UTC)" if night.succeeded else "never"
    do = "systemctl list-timers birthmark-nightly.timer; systemctl enable --now it"
    return Fault(f"no night has succeeded recently; the last: {last}", place, do)
