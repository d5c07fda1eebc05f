"""Fixtures of the fault tests: a small site, and a way to print observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.faults.disks import mounted
from tests.faults.site import Site


@pytest.fixture
def tell(capfd: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return a function that prints a line, captured or not: these tests are also a program."""

    def line(text: str) -> None:
        with capfd.disabled():
            print(text, flush=True)

    return line


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with mounted(tmp_path_factory.mktemp("site"), "64m") as disk:
        yield Site(disk, tmp_path_factory.mktemp("beside"))


@pytest.fixture
def site(built: Site) -> Site:
    """Return the site as before its second night."""
    built.restore()
    return built
