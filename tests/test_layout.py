"""The folders import only from the stops before them on the road from trace to answer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROAD = ["data", "features", "predictor", "training", "serving", "layout_hint", "birthmark"]


def imported(path: Path) -> set[str]:
    """The first parts of what a module imports, and of `birthmark` the module itself."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return {name if name.startswith("birthmark._native") else name.split(".")[0] for name in found}


@pytest.mark.parametrize("folder", ROAD)
def test_a_folder_imports_only_from_the_stops_before_it(folder: str) -> None:
    after = set(ROAD[ROAD.index(folder) + 1 :])
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules
    for path in modules:
        assert not imported(path) & after, path
