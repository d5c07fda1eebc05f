"""Settings of F2FS: the kernel's folder, and that of backups."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from birthmark.data.settings import Strict


class Places(Strict):
    """The folders of ``birthmark layout f2fs``."""

    before: Path = Field(
        default=Path("/var/lib/birthmark/f2fs"),
        description="folder of the lists' backups",
    )
    kernel: Path = Field(
        default=Path("/sys/fs/f2fs"),
        description="folder in which the kernel shows mounted F2FS",
    )
