"""Whether a site is well: what is wrong, where, and what to do.

Each check looks at one thing and changes nothing. What it cannot look at it says, so that nobody
takes that for well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from birthmark.doctor import certificate, machine, night, places, registry, service, traffic, units
from birthmark.doctor.findings import Fault, Finding, Note
from birthmark.doctor.site import Site

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
"""What is looked at, in this order, besides the configuration, which the others need."""


@dataclass(frozen=True)
class Examination:
    """What was found, by check: `faults`, and `notes` of what could not be looked at."""

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Return in a sentence how the site is."""
        count = sum(map(len, self.faults.values()))
        if not count:
            rest = ", but not all could be looked at" if self.notes else ""
            return f"no fault found in {len(CHECKS)} checks{rest}"
        return f"{count} fault{'s' if count > 1 else ''} found: {', '.join(self.faults)}"


def examine(site: Site) -> Examination:
    """Make every check of a site."""
    found = Examination()
    for name, check in CHECKS.items():
        for finding in _made(check, site):
            if isinstance(finding, Fault):
                found.faults.setdefault(name, []).append(finding)
            else:
                found.notes.setdefault(name, []).append(finding)
    return found


def _made(check: Callable[[Site], Iterator[Finding]], site: Site) -> Iterator[Finding]:
    """Yield what a check finds; where something keeps it from looking, that."""
    try:
        yield from check(site)
    except (OSError, ValueError) as error:
        do = f"see to it, or run this as root or as {site.user}"
        yield Fault("cannot be looked at", f"{error}", do)
