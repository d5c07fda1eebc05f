"""The notebooks run from their beginning, and show what is kept of them."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
TABLES = {
    "accuracy": ["6.5", "6.6", "6.7", "6.8", "6.16"],
    "locality": ["7.1", "7.2", "7.3", "7.4"],
}
"""Which of the thesis's tables each says that it makes."""

SITES = ("here", "CAMPUS", "DEAS03", "EECS03")
"""Of which each shows figures: of its own, and the thesis's."""

PNG = b"\x89PNG\r\n\x1a\n"


def shown(notebook: Any) -> list[str]:
    """Return the text that the cells of a notebook show."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output
            text = output.get("text") or output.data.get("text/plain", "")
            found.append(re.sub(r"0x[0-9a-f]+|\d{8}T\d{6}Z-[0-9a-f]{6}", "…", text))
    return found


def pictures(notebook: Any) -> list[bytes]:
    """Return the pictures that it shows."""
    return [
        base64.b64decode(output.data["image/png"])
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]


def test_there_is_a_notebook_for_the_tables() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(TABLES)


@pytest.mark.deep
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_comes_of_running_it(path: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    from docs.notebooks import run

    kept, now = nbformat.read(path, as_version=4), run(path)
    assert shown(now) == shown(kept)
    assert len(pictures(now)) == len(pictures(kept)) == 1
    assert all(picture.startswith(PNG) for picture in pictures(now) + pictures(kept))
    text = "\n".join(cell.source for cell in kept.cells if cell.cell_type == "markdown")
    assert all(number in text for number in TABLES[path.stem])
    assert all(any(site in each for each in shown(kept)) for site in SITES)
