"""The test of a module is found by its path, or names the module in its first lines.

A test that stands for more than the module of its own name has a paragraph "Tests also
FOLDER/, MODULE.py." in its docstring.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.folders import FOLDERS

ROOT = Path(__file__).resolve().parents[1]
ALSO = re.compile(r"^Tests also (.+?)\.$", re.M | re.S)


def modules() -> list[Path]:
    """Return the modules of all folders, from the top of the repository."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found if not path.stem.startswith("__"))


@cache
def named() -> set[str]:
    """Return the modules, and folders of them (``/`` at the end), that tests name."""
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        if listed := ALSO.search(ast.get_docstring(ast.parse(path.read_text())) or ""):
            found |= set(re.split(r",\s+", listed[1]))
    return {name for name in found if (ROOT / name.split("/")[0]).is_dir()}


def has_twin(module: Path) -> bool:
    """Tell whether a module has a test of its own name in the same place below ``tests``."""
    return (ROOT / "tests" / module.parent / f"test_{module.name}").is_file()


def names_of(module: Path) -> set[str]:
    """Return the names by which a test may name a module: its path, or a folder it is in."""
    return {module.as_posix(), *(f"{folder.as_posix()}/" for folder in module.parents)}


def test_each_module_has_a_test_that_is_found() -> None:
    left = [path for path in modules() if not has_twin(path) and not names_of(path) & named()]
    assert not left, "expected a test of the same name and place, or one that tests also these"


def test_no_test_names_a_module_in_vain() -> None:
    needed = {name for path in modules() if not has_twin(path) for name in names_of(path)}
    assert named() <= needed, "these have tests of their own name, or are gone"
