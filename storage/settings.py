"""What the storage simulator may be told. Commands make their options of it."""

from __future__ import annotations

from pydantic import Field

from birthmark.data.settings import Strict


class Options(Strict):
    """What a trace is replayed on."""

    drive: str = Field(description="drive: a name, or a file that ends in .toml")
