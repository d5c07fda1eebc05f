"""Block the import of pandas to save start-up time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder


class _Nothing(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is blocked in this process", name=fullname)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Block the import of pandas in this block, unless the process has imported it.

    pyarrow imports it for its first array, to check for a DataFrame: 0.3 s of processor time and 40
    MB. After one failure it tries again only to return a DataFrame.
    """
    sys.meta_path.insert(0, _Nothing())
    try:
        yield
    finally:
        _let_in()


def with_pandas() -> None:
    """Allow the import of pandas from now on, for code that needs it and for users' code.

    pyarrow, which may have failed to find pandas, looks again.
    """
    if any(isinstance(finder, _Nothing) for finder in sys.meta_path):
        import pyarrow as pa

        _let_in()
        pa.table({}).to_pandas()


def _let_in() -> None:
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Nothing)]
