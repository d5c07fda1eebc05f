"""Where the lists of F2FS are, and where is kept what they were: declared here alone."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from birthmark.data.settings import Strict


class Places(Strict):
    """The folders of ``birthmark f2fs``."""

    before: Path = Field(
        default=Path("/var/lib/birthmark/f2fs"),
        description="folder that keeps what lists were before they were changed",
    )
    kernel: Path = Field(
        default=Path("/sys/fs/f2fs"),
        description="folder in which the kernel shows each F2FS that is mounted",
    )
