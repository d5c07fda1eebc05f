"""The folders import only from the stops before them on the road from trace to answer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROAD = ["data", "features", "predictor", "training", "serving", "layout_hint"]


def imported(path: Path) -> set[str]:
    """What a module imports of the project: a folder, a module of the front door, the extension."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    parts = [name.split(".") for name in found if name.split(".")[0].startswith("birthmark")]
    return {".".join(part[:2]) if part[0] == "birthmark" else part[0] for part in parts}


@pytest.mark.parametrize("folder", ROAD)
def test_a_folder_imports_only_from_the_stops_before_it(folder: str) -> None:
    before = {f"birthmark.{stop}" for stop in ROAD[: ROAD.index(folder) + 1]}
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules
    for path in modules:
        assert imported(path) <= before | {"birthmark_native"}, path


def test_the_extension_imports_nothing_of_the_project() -> None:
    modules = sorted((ROOT / "birthmark_native").glob("*.py*"))
    assert {path.name for path in modules} >= {"__init__.py", "_native.pyi"}
    for path in modules:
        assert imported(path) <= {"birthmark_native"}, path


@pytest.mark.parametrize("folder", ROAD)
def test_each_folder_is_a_package_of_birthmark(folder: str) -> None:
    link = ROOT / "birthmark" / folder
    assert link.is_symlink()
    assert link.resolve() == ROOT / folder
