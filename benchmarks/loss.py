"""Estimated against actual loss of an ingest, and the lives that it marks.

    python -m benchmarks.loss WHOLE.pcap [--damaged DAMAGED.pcap] [--json OUT]

``WHOLE`` is a capture (plain pcap) that lost nothing. Packets of it are dropped at several rates,
half of them singly and half in bursts of 5 to 40, from a seed; ``--damaged`` is the same traffic
damaged by somebody else. *Recall* is the share that ``loss_nearby`` marks of the lives whose row
is not that of the whole capture, *price* its share of the others. ``harm`` counts a row as another
only if something differs that predicates ask of: birth, death, name, mode, use or size.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from birthmark.data.ingest.lives import update
from birthmark.data.ingest.loss import Losses
from birthmark.data.traces.reader import open_trace
from birthmark_native import LivesBuilder

RATES = (0.001, 0.005, 0.02)
MARGINS_MS = (0, 10, 50, 100, 1000)
BURST = (5, 40)
SEED = 2004
UNASKED = {"loss_nearby", "operations", "last_seen", "observed_until", "atime", "dir_name"}

Lives = dict[bytes, list[dict[str, Any]]]


def drop(whole: Path, rate: float, out: Path) -> float:
    """Write a capture without some of its packets; return the share that was dropped."""
    chance = random.Random(SEED)
    content = whole.read_bytes()
    remaining, at, packets, left = [content[:24]], 24, 0, 0
    while at < len(content):
        size = 16 + struct.unpack_from("<I", content, at + 8)[0]
        packets += 1
        if left == 0 and chance.random() < rate / 2 / (sum(BURST) / 2):
            left = chance.randint(*BURST)
        if left == 0 and chance.random() >= rate / 2:
            remaining.append(content[at : at + size])
        left = max(left - 1, 0)
        at += size
    out.write_bytes(b"".join(remaining))
    return (packets - len(remaining) + 1) / packets


class Capture:
    """A capture with all that is known of its loss."""

    def __init__(self, path: Path) -> None:
        trace = open_trace(path)
        self.chunks = list(trace.chunks())
        losses = Losses()
        for rows in (batch for chunk in self.chunks for batch in chunk.loss):
            losses.add(rows)
        self.estimate = losses.estimate()
        counts = trace.counts()
        tallies = counts["procedures"].values()
        self.messages = sum(each["operations"] for each in tallies)
        self.messages += sum(each["operations"] - each["unanswered"] for each in tallies)
        self.messages += sum(counts["orphans"].values())

    def files(self, margin_ms: int) -> Lives:
        """Return the rows of the files table by handle."""
        builder = LivesBuilder(near=margin_ms * 1000)
        builder.set_losses_known(True)
        for chunk in self.chunks:
            update(builder, chunk)
        builder.finish()
        found: Lives = defaultdict(list)
        while (files := builder.take_files()).num_rows:
            for row in files.to_pylist():
                found[row["fh"]].append(row)
        return found


def without(lives: Lives, columns: set[str]) -> dict[bytes, list[dict[str, Any]]]:
    """Return the rows without some columns."""
    return {
        fh: [{name: row[name] for name in row if name not in columns} for row in rows]
        for fh, rows in lives.items()
    }


def marks(whole: Lives, found: Lives) -> dict[str, float | int | None]:
    """Return the number of lives that differ, and the marked shares of them and of the others."""
    marked = {fh for fh, rows in found.items() if any(row["loss_nearby"] for row in rows)}
    result: dict[str, float | int | None] = {
        "lives": len(found),
        "vanished": len(whole.keys() - found.keys()),
        "marked": share(len(marked), len(found)),
    }
    for name, columns in (("differ", {"loss_nearby"}), ("harm", UNASKED)):
        before, after = without(whole, columns), without(found, columns)
        differ = {fh for fh in after if after[fh] != before.get(fh)}
        same = after.keys() - differ
        result[name] = len(differ)
        result[f"{name}_recall"] = share(len(differ & marked), len(differ))
        result[f"{name}_price"] = share(len(same & marked), len(same))
    return result


def share(part: int, whole: int) -> float | None:
    """Return a percentage, None of nothing."""
    return round(100 * part / whole, 1) if whole else None


def measure(name: str, whole: Capture, damaged: Capture, dropped: float | None) -> dict[str, Any]:
    """Return the estimate beside the truth, and the marks by margin."""
    estimate = damaged.estimate
    return {
        "capture": name,
        "packets_lost": dropped and round(100 * dropped, 3),
        "messages_lost": whole.messages - damaged.messages,
        "estimated": estimate and estimate.lost,
        "messages_lost_percent": share2(whole.messages - damaged.messages, whole.messages),
        "estimated_percent": estimate and round(100 * estimate.fraction, 3),
        "margins": {
            margin: marks(whole.files(margin), damaged.files(margin)) for margin in MARGINS_MS
        },
    }


def share2(part: int, whole: int) -> float:
    """Return a percentage to a thousandth."""
    return round(100 * part / whole, 3)


def show(results: list[dict[str, Any]], console: Console) -> None:
    """Print two tables."""
    table = Table("capture", title="messages lost")
    columns = ["packets_lost", "messages_lost", "estimated"]
    columns += ["messages_lost_percent", "estimated_percent"]
    for column in columns:
        table.add_column(column.replace("_", " "), justify="right")
    for row in results:
        table.add_row(row["capture"], *(str(row[column]) for column in columns))
    console.print(table)
    table = Table("capture", title="lives marked, percent")
    names = ["differ", "differ_recall", "differ_price", "harm", "harm_recall", "harm_price"]
    for column in ["margin, ms", *names]:
        table.add_column(column.replace("_", " "), justify="right")
    for row in results:
        for margin, found in row["margins"].items():
            table.add_row(row["capture"], str(margin), *(str(found[name]) for name in names))
    console.print(table)


def main() -> None:
    """Measure, print and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("whole", type=Path)
    parser.add_argument("--damaged", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    whole = Capture(arguments.whole)
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for rate in RATES:
            path = Path(scratch) / "dropped.pcap"
            dropped = drop(arguments.whole, rate, path)
            results.append(measure(f"{rate:.1%} dropped", whole, Capture(path), dropped))
    if arguments.damaged:
        damaged = Capture(arguments.damaged)
        results.append(measure(arguments.damaged.name, whole, damaged, None))
    show(results, Console(width=120))
    if arguments.json:
        arguments.json.write_text(json.dumps({"seed": SEED, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
