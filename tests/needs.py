"""What some tests need and not every machine has."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

superuser = pytest.mark.skipif(os.geteuid() != 0, reason="needs the superuser")
"""What an ordinary user cannot do: such a test is a deep one, too."""


def program(name: str, package: str = "", path: str | None = None) -> str:
    """Return where a program is; if it is nowhere, skip the test.

    Where everything may be installed, as in CI, `tests/system-packages` did: then it fails.
    `package` is Debian's name for what has it, if that is another; `path` replaces $PATH.
    """
    if found := shutil.which(name, path=path):
        return found
    missing(f"needs {name} (Debian: apt-get install {package or name})")


def missing(reason: str) -> NoReturn:
    """Skip a test for the lack of what can be installed; in CI, fail it."""
    if os.environ.get("TEST_INSTALL"):
        pytest.fail(reason)
    pytest.skip(reason)
