"""Reading a load's parameters."""

from __future__ import annotations

from pathlib import Path

from birthmark.data.common.setting_files import read_toml
from birthmark.research.loads.load import Load

LOADS = ("P", "S", "Pm", "Sm")
"""The loads that come with the package: a personal system, a server, and several of each."""


def read_load(name: str) -> Load:
    """Return a load of ``LOADS``."""
    return read_toml(Path(__file__).with_name(f"{name}.toml"), Load)
