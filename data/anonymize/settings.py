"""The settings of a mapping, read from a TOML file: what stays, and what is left out.

names = [".inbox", ".pinerc", "CVS"]    # all optional; `Settings` has the defaults
suffixes = ["lock"]
accounts = ["root"]
users = [0]
groups = [0]
addresses = []
prefix = true
handles = "map"
omit = []
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from birthmark.data.common.setting_files import read_toml
from birthmark.data.settings import Strict

Id = Annotated[int, Field(ge=0, lt=2**32)]
Name = Annotated[str, Field(min_length=1)]


class Settings(Strict):
    """The settings of a mapping. A list that is given takes the place of the default one.

    The defaults of the names are the thesis's own examples (section 3.6.1): programs chose them, so
    they reveal nothing about a file's owner. The ids are those of system accounts, which readers
    need to tell from people.
    """

    names: tuple[Name, ...] = Field(
        default=("CVS", ".inbox", ".pinerc", ".nfs"),
        description="names that stay, and their pieces wherever they stand",
    )
    suffixes: tuple[Name, ...] = Field(
        default=("lock",), description="pieces that stay wherever they stand"
    )
    accounts: tuple[Name, ...] = Field(
        default=("root", "daemon", "nobody", "wheel"),
        description="users and groups of NFS version 4 that stay",
    )
    users: tuple[Id, ...] = Field(
        default=(0, 1, 65534, 2**32 - 2, 2**32 - 1),
        description="root, daemon, nobody (also written -2), and -1, which sets no owner",
    )
    groups: tuple[Id, ...] = Field(
        default=(0, 1, 65534, 2**32 - 2, 2**32 - 1),
        description="wheel, daemon, nobody (also written -2), and -1, which sets no group",
    )
    addresses: tuple[Name, ...] = Field(
        default=(), description="hosts that stay, as the trace writes them"
    )
    prefix: bool = Field(
        default=True, description="names that begin with the same five bytes still do"
    )
    handles: Literal["map", "keep"] = Field(
        default="map", description="whether file handles are mapped, or stay"
    )
    omit: tuple[Literal["names", "users", "groups", "addresses"], ...] = Field(
        default=(), description="columns to leave out"
    )

    def words_to_keep(self) -> dict[str, tuple[str, ...]]:
        """Return the values that stay, by kind of thing, as the mapping names the kinds."""
        suffixes = tuple(suffix.lstrip(".") for suffix in self.suffixes)
        return {
            "name": self.names + suffixes,
            "label": self.accounts,
            "user": tuple(map(str, self.users)),
            "group": tuple(map(str, self.groups)),
            "host": self.addresses,
        }


def read_settings(path: Path) -> Settings:
    """Read and check a settings file; raise `ValueError`, naming file and key, if it is invalid."""
    return read_toml(path, Settings)
