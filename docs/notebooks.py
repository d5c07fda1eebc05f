"""Run the notebooks in ``docs/notebooks`` again, and keep what they show.

``python docs/notebooks.py [NAME...]`` runs those named, or all, each from its beginning in an empty
directory.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent / "notebooks"
SECONDS = 900
"""How long a cell may take."""


def run(path: Path) -> Any:
    """Return a notebook with what its cells show when they are run now.

    Raises ``nbclient.exceptions.CellExecutionError`` where one fails.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as empty:
        resources = {"metadata": {"path": empty}}
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            resources=resources,
            record_timing=False,
            startup_timeout=SECONDS,
        )
        client.execute()
    notebook.metadata.pop("language_info", None)  # which tells the version of Python
    return notebook


def main(names: list[str]) -> None:
    """Run the notebooks of these names, or all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(run(path), path)


if __name__ == "__main__":
    main(sys.argv[1:])
