"""``python -m tests.faults``: do it all, and print what was done and seen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-rs", str(Path(__file__).parent), *sys.argv[1:]]))
