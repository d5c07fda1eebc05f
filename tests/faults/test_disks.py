"""Full or read-only disks: the nightly run reports them, and continues once they are not."""

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
    """Check that another run finishes a night's work as if undisturbed."""
    assert site.night() == 0, site.output()
    assert site.differences() == []
    assert site.count() == site.rows


@dataclass(frozen=True)
class FilesOf:
    """Limits the size of a process's files (RLIMIT_FSIZE): a full disk that needs no root."""

    most: int

    def __call__(self) -> None:
        """Set the limit."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, self.most))


def test_nights_that_cannot_write_files_fail_until_they_can(site: Site, tell: Tell) -> None:
    answers = site.served()
    for most in (1_000, 60_000):
        assert site.night(FilesOf(most)) == 1, site.output()
        assert "too large" in site.output()
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
        """Check that a night fails for a reason, and that everything is as complete as before."""
        assert site.night() == 1, site.output()
        assert reason in site.output()
        output, seen = site.output().strip(), site.check()
        assert site.served() == answers
        assert (site.models("list"), site.models("verify")) == (0, 0)
        tell(f"{fault}: {seen}; output: {output[-60:]}")

    for share in (0, 0.1, 0.3):
        with site.disk.filled(free=int(share * site.need)):
            failed("No space left on device", f"disk with {share:.0%} of what a night needs")
    with read_only(site.home / "registry") as reason:
        failed(reason, "read-only registry")
    finish(site)
    tell("then finished as if undisturbed")
