"""Write the generated files: ``make generate``.

``GENERATED`` has those that Python makes in seconds; the C headers are native/contract's.
CONTRIBUTING.md ("Generated files") lists those that take minutes or need more.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from birthmark.serving.app.application import create_app
from birthmark.serving.settings import Settings
from docs import imports, settings, tables

ROOT = Path(__file__).resolve().parents[1]
SCAN = (ROOT / "docs" / "scan.md").read_text(encoding="utf-8")


def interface() -> str:
    """Return the OpenAPI document of the service."""
    return json.dumps(create_app(Settings()).openapi(), indent=1) + "\n"


@cache
def plots() -> dict[str, str]:
    """Return the plots of ``docs/scan.md`` by name, drawn by the commands on that page."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").symlink_to(ROOT / "data")
        for command in re.findall(r"^\$ ((?:.*\\\n)*.*)", SCAN, re.M):
            if re.search(r"--out \S+\.(parquet|svg)$", command):
                subprocess.run(
                    ["bash", "-c", command],
                    cwd=folder,
                    env={**os.environ, "PATH": path},
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
        return {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.svg")}


def plot(name: str) -> str:
    """Return one of the plots of ``docs/scan.md``."""
    return plots()[name]


GENERATED: dict[str, Callable[[], str]] = {
    "docs/settings.md": settings.page,
    "docs/tables.md": tables.page,
    "docs/openapi.json": interface,
    "docs/imports.svg": imports.picture,
} | {f"docs/scan/{name}": partial(plot, name) for name in re.findall(r"\]\(scan/(.*?)\)", SCAN)}
"""The program of each file, by the file's path in the repository."""


def main() -> None:
    """Write each file."""
    for name, content in GENERATED.items():
        (ROOT / name).write_text(content(), encoding="utf-8")
        print(f"written     {name}")


if __name__ == "__main__":
    main()
