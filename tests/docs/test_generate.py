"""Files that are generated are as `make generate` writes them.

`native/contract/tests/headers.rs` compares the C headers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import generate
from docs.generate import GENERATED, ROOT
from tests.folders import FOLDERS, RESEARCH

# Another version of matplotlib draws other bytes; deep tests run with the locked one alone.
PICTURES = [
    pytest.param(name, marks=pytest.mark.deep) for name in GENERATED if name.endswith(".svg")
]
TEXTS = [name for name in GENERATED if not name.endswith(".svg")]
OF_ALL_FOLDERS = {"docs/imports.svg", "docs/settings.md"}


@pytest.mark.parametrize("name", [*TEXTS, *PICTURES])
def test_a_generated_file_is_as_its_program_writes_it(name: str) -> None:
    if name in OF_ALL_FOLDERS and RESEARCH not in FOLDERS:
        pytest.skip("needs the folder research")
    is_current = (ROOT / name).read_text(encoding="utf-8") == GENERATED[name]()
    assert is_current, f"{name} is stale: run make generate"


def test_every_plot_of_the_guide_to_scans_is_generated() -> None:
    plots = {f"docs/scan/{path.name}" for path in (ROOT / "docs" / "scan").iterdir()}
    assert plots == {name for name in GENERATED if name.startswith("docs/scan/")}


def test_each_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "GENERATED", {"one.md": lambda: "1\n", "two.md": lambda: "2\n"})
    generate.main()
    assert [(tmp_path / name).read_text() for name in ("one.md", "two.md")] == ["1\n", "2\n"]
