"""Checks of a site: each fault, its place, and how to fix it.

A check examines one thing and changes nothing. It reports what it cannot examine, so that silence
means no fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from birthmark.doctor import certificate, machine, night, places, registry, service, traffic, units
from birthmark.doctor.site import Fault, Finding, Note, Site

CHECKS: dict[str, Callable[[Site], Iterator[Finding]]] = {
    "directories": places.directories,
    "secrets": places.secrets,
    "certificate": certificate.certificate,
    "clock": machine.clock,
    "space": machine.space,
    "capture": traffic.capture,
    "follower": traffic.follower,
    "datasets": traffic.datasets_,
    "registry": registry.registry,
    "nights": night.nights,
    "service": service.service,
    "units": units.units,
}
"""The checks in order; the configuration, which they need, is checked before."""


@dataclass(frozen=True)
class Examination:
    """Findings by check: `faults`, and `notes` on what could not be examined."""

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Return the verdict in a sentence."""
        count = sum(map(len, self.faults.values()))
        if not count:
            rest = ", but some could not be made" if self.notes else ""
            return f"no fault found in {len(CHECKS)} checks{rest}"
        return f"{count} fault{'s' if count > 1 else ''} found: {', '.join(self.faults)}"


def examine(site: Site) -> Examination:
    """Run every check of a site."""
    found = Examination()
    for name, check in CHECKS.items():
        for finding in _made(check, site):
            if isinstance(finding, Fault):
                found.faults.setdefault(name, []).append(finding)
            else:
                found.notes.setdefault(name, []).append(finding)
    return found


def _made(check: Callable[[Site], Iterator[Finding]], site: Site) -> Iterator[Finding]:
    """Yield the findings of a check, or the error that prevents it."""
    try:
        yield from check(site)
    except (OSError, ValueError) as error:
        do = f"correct it, or run this as root or as {site.user}"
        yield Fault("cannot be examined", f"{error}", do)
