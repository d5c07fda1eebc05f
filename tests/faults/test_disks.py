"""Disks that are full or read-only: the nightly run says so, and goes on once they are not."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.faults.disks import read_only
from tests.faults.site import Site

Tell = Callable[[str], None]


def finish(site: Site) -> None:
    """Check that a night's work is done by another run as if nothing had been."""
    assert site.night() == 0, site.said()
    assert site.differences() == []
    assert site.count() == site.rows


@pytest.mark.parametrize("share", [0, 0.1, 0.3, 0.8])
def test_a_night_on_a_full_disk_fails_and_the_next_finishes_its_work(
    share: float, site: Site, tell: Tell
) -> None:
    answers = site.served()
    with site.disk.filled(free=int(share * site.need)):
        assert site.night() == 1, site.said()
        assert "No space left on device" in site.said()
        seen, said = site.check(), site.said().strip()
        assert site.served() == answers
        assert (site.models("list"), site.models("verify")) == (0, 0)
    finish(site)
    tell(f"disk full at {share:.0%} of what a night needs: {seen}; {said[-80:]}; then finished")


@dataclass(frozen=True)
class FilesOf:
    """Lets a process write no file of more bytes (RLIMIT_FSIZE): a full disk that needs no root."""

    most: int

    def __call__(self) -> None:
        """Begin to."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, self.most))


def test_nights_that_cannot_write_files_fail_until_they_can(site: Site, tell: Tell) -> None:
    answers = site.served()
    for most in (1_000, 9_000, 30_000):
        assert site.night(FilesOf(most)) == 1, site.said()
        assert "too large" in site.said()
        seen = site.check()
        assert site.served() == answers
        tell(f"no file of more than {most} bytes: {seen}")
    finish(site)


def test_a_read_only_registry_is_served_from_and_the_night_goes_as_far_as_it_can(
    site: Site, tell: Tell
) -> None:
    answers = site.served()
    with read_only(site.home / "registry") as reason:
        assert site.night() == 1
        assert reason in site.said()
        seen, said = site.check(), site.said().strip()
        assert site.served() == answers
        assert (site.models("list"), site.models("verify")) == (0, 0)
    finish(site)
    tell(f"read-only registry: {seen}; {said[-80:]}; then finished")
