"""kill -9 of the nightly run, at any instant: the next one finishes its work, alike."""

from __future__ import annotations

import signal
from collections.abc import Callable
from random import Random

from tests.faults.commands import KilledBefore
from tests.faults.site import Site

Tell = Callable[[str], None]

SEED = 6
KILLS = {"intake": 6, "audit": 3, "test": 4, "parts": 4, "pointer": 3}
"""How many of the 20 instants are in each step of a night."""


def instants(site: Site) -> list[str]:
    """Return operations at random, of each step as many as wanted, in the order of the night."""
    random, chosen = Random(SEED), set()
    for step, many in KILLS.items():
        own = [operation for operation in site.operations if site.step(operation) == step]
        chosen.update(random.sample(own, many))
    return [operation for operation in site.operations if operation in chosen]


def test_a_nightly_run_killed_at_20_instants_ends_as_one_that_was_not(
    site: Site, tell: Tell
) -> None:
    """Each run is killed further on than the last, so that all that kills leave comes together."""
    answers = site.served()
    for number, operation in enumerate(instants(site), start=1):
        assert site.night(KilledBefore(site.label, operation)) == -signal.SIGKILL, operation
        seen = site.check()
        assert site.served() == answers
        assert number % 5 or (site.models("list"), site.models("verify")) == (0, 0)
        tell(f"nightly killed {number:2} of 20, {site.step(operation):8} {operation}: {seen}")
    assert site.night() == 0, site.said()
    assert site.differences() == []
    assert site.count() == site.rows
    tell(f"nightly run again: {len(site.done)} files as if undisturbed, {site.rows} operations")
