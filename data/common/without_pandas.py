"""What this process does without, though libraries would have it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder


class _Nothing(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("this process does without pandas", name=fullname)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Let nobody import pandas meanwhile; a process that has it already keeps it.

    pyarrow would, when it first makes an array, to tell whether that is of a DataFrame: 0.3 s of
    processor time and 40 MB. Once it has asked, it asks again only for what returns a DataFrame.
    """
    nothing = _Nothing()
    sys.meta_path.insert(0, nothing)
    try:
        yield
    finally:
        sys.meta_path.remove(nothing)
