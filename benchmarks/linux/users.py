"""A part of a generated trace, by some of its users: less of everything, and as busy as it was.

    python -m benchmarks.linux.users TRACE OUT --of 4

TRACE is what ``birthmark research workload`` wrote as Parquet; OUT has the operations of one in so
many users, by their numbers. (``--rate`` makes as many files less busy: a load would take as much
room, and have the cleaner less to do.)
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def some(trace: Path, out: Path, of: int) -> None:
    """Write the operations of every ``of``-th user, in the order of their numbers."""
    table = pq.read_table(trace)
    users = np.asarray(table["uid"].fill_null(0))
    remaining = np.unique(users)[of - 1 :: of]
    pq.write_table(table.filter(pa.array(np.isin(users, remaining))), out)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--of", type=int, required=True)
    given = parser.parse_args()
    some(given.trace, given.out, given.of)


if __name__ == "__main__":
    main()
