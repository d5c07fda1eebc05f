"""``python -m tests.faults``: inject every fault, and print the observations."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-rs", str(Path(__file__).parent), *sys.argv[1:]]))
