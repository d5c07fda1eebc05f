"""What the tests of faults share: a small site, and a way to tell what was done to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.site import Site


@pytest.fixture
def tell(capfd: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return what prints a line, captured or not: these tests are a program to watch."""

    def line(text: str) -> None:
        with capfd.disabled():
            print(text, flush=True)

    return line


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def site(built: Site) -> Site:
    """Return the site as it is before its second night."""
    built.restore()
    return built
