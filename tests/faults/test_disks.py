"""Disks that are full or read-only: the nightly run says so, and goes on once they are not."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.faults.disks import read_only
from tests.faults.site import Site

pytestmark = pytest.mark.deep

Tell = Callable[[str], None]


def finish(site: Site) -> None:
    """Check that a night's work is done by another run as if nothing had been."""
    assert site.night() == 0, site.said()
    assert site.differences() == []
    assert site.count() == site.rows


@dataclass(frozen=True)
class FilesOf:
    """Lets a process write no file of more bytes (RLIMIT_FSIZE): a full disk that needs no root."""

    most: int

    def __call__(self) -> None:
        """Begin to."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, self.most))


def test_nights_that_cannot_write_files_fail_until_they_can(site: Site, tell: Tell) -> None:
    answers = site.served()
    for most in (1_000, 60_000):
        assert site.night(FilesOf(most)) == 1, site.said()
        assert "too large" in site.said()
        seen = site.check()
        assert site.served() == answers
        tell(f"no file of more than {most} bytes: {seen}")
    finish(site)
    tell("then finished as if undisturbed")


def test_nights_on_disks_that_are_full_or_read_only_fail_until_they_are_not(
    site: Site, tell: Tell
) -> None:
    answers = site.served()

    def failed(reason: str, fault: str) -> None:
        """Check that a night fails for a reason, and that all is as whole as before."""
        assert site.night() == 1, site.said()
        assert reason in site.said()
        said, seen = site.said().strip(), site.check()
        assert site.served() == answers
        assert (site.models("list"), site.models("verify")) == (0, 0)
        tell(f"{fault}: {seen}; said: {said[-60:]}")

    for share in (0, 0.1, 0.3):
        with site.disk.filled(free=int(share * site.need)):
            failed("No space left on device", f"disk with {share:.0%} of what a night needs")
    with read_only(site.home / "registry") as reason:
        failed(reason, "read-only registry")
    finish(site)
    tell("then finished as if undisturbed")
