"""What some tests need and not every machine has."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from typing import Any, NoReturn

import pytest

from tests.folders import FOLDERS, RESEARCH

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


folder_research = pytest.mark.skipif(RESEARCH not in FOLDERS, reason="needs the folder research")
"""A test of the folders before it that uses a command of `research`."""


def research(module: str) -> Any:
    """Return a module of `research`; skip the test in a clone that does without."""
    if RESEARCH not in FOLDERS:
        pytest.skip("needs the folder research")
    return import_module(f"birthmark.{RESEARCH}.{module}")


def missing(reason: str) -> NoReturn:
    """Skip a test for the lack of what can be installed; in CI, fail it."""
    if os.environ.get("TEST_INSTALL"):
        pytest.fail(reason)
    pytest.skip(reason)
