"""Decode a trace, and say how many seconds it took: by the clock, and of processor time.

    python -m benchmarks.decode TRACE [--lives] [--out DATASET]

``--lives`` also follows the lives of files and names; ``--out`` also writes the operations table.
What came to light besides (losses, messages, damage) is taken, and dropped. The start of the
interpreter, and its imports, are not counted.
"""

from __future__ import annotations

import argparse
import time
from contextlib import nullcontext
from pathlib import Path

from birthmark.data.datasets import DatasetWriter
from birthmark.data.ingest.lives import update
from birthmark.data.traces.reader import open_trace
from birthmark_native import LivesBuilder


def decode(path: Path, lives: LivesBuilder | None, dataset: DatasetWriter | None) -> None:
    """Read a trace to its end."""
    trace = open_trace(path)
    for chunk in trace.chunks():
        if lives:
            update(lives, chunk)
            lives.take_files()
            lives.take_names()
        for batch in chunk.operations if dataset else ():
            dataset.write("operations", batch)
    if lives:
        lives.finish()
        while lives.take_files().num_rows or lives.take_names().num_rows:
            pass


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--lives", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    began, worked = time.monotonic(), time.process_time()
    with DatasetWriter(arguments.out) if arguments.out else nullcontext() as dataset:
        decode(arguments.trace, LivesBuilder() if arguments.lives else None, dataset)
    print(time.monotonic() - began, time.process_time() - worked)


if __name__ == "__main__":
    main()
