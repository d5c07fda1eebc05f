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
    sys.meta_path.insert(0, _Nothing())
    try:
        yield
    finally:
        _let_in()


def with_pandas() -> None:
    """Let pandas be imported from now on: by what needs it, and by code of users, which may.

    pyarrow, which may have found none, finds it now.
    """
    if any(isinstance(finder, _Nothing) for finder in sys.meta_path):
        import pyarrow as pa

        _let_in()
        pa.table({}).to_pandas()


def _let_in() -> None:
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Nothing)]
