"""The two speeds of the suite: ``make test`` is quick, ``make deep`` runs what is marked `deep`.

A test is deep if it says so, or if it asks for one of `DEEP_FIXTURES`. Every other test is quick,
and fails where it takes longer than `QUICK_SECONDS`.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

QUICK_SECONDS = 10.0
"""What a quick test may take, in seconds of processor time. It tells apart what has to be
marked deep, and no more: none takes over 3, or on processors that others share twice that."""

DEEP_FIXTURES = frozenset({"shared", "browser", "kernel"})
"""The reference captures, Chromium, and the compiler for FreeBSD's kernel."""


def processor_seconds() -> float:
    """Return the processor time of this process, and of those it started and waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not DEEP_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("deep")
    # The examples of the pages take longest, one after the other: they begin first.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/docs/"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    began = processor_seconds()
    yield
    seconds = processor_seconds() - began
    if seconds > QUICK_SECONDS and not item.get_closest_marker("deep"):
        pytest.fail(
            f"it took {seconds:.1f} s of processor time, and a quick test may take"
            f" {QUICK_SECONDS:.0f}: make it cheaper, or mark it deep",
            pytrace=False,
        )
