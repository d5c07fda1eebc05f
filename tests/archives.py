"""Archives of tests' data."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path


def unpack(archive: Path, into: Path, wanted: Callable[[str], bool] = lambda name: True) -> None:
    """Unpack the members that are wanted, by name.

    Python before 3.11.4, Debian 12's for one, has no filters, and later ones warn without.
    """
    filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as content:
        members = [member for member in content.getmembers() if wanted(member.name)]
        content.extractall(into, members, **filters)  # type: ignore[arg-type]
