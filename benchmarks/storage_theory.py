"""The storage simulator's stations and issue models, beside queueing theory.

    python -m benchmarks.storage_theory [--customers N] [--json]

The same code is tested by ``research/simulator/tests/theory.rs``.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from birthmark.research.native import storage_theory

CASES: dict[str, dict[str, dict[str, float]]] = {
    **{f"M/M/1, load {load}": {"mm1": {"load": load}} for load in (0.3, 0.6, 0.8)},
    **{f"M/D/1, load {load}": {"md1": {"load": load}} for load in (0.3, 0.6, 0.8)},
    "M/M/4, load 3": {"mmc": {"places": 4, "load": 3}},
    "M/M/8, load 7": {"mmc": {"places": 8, "load": 7}},
    "repair, 1 client, thinks 4": {"repair": {"clients": 1, "think": 4}},
    "repair, 5 clients, think 4": {"repair": {"clients": 5, "think": 4}},
    "repair, 12 clients, think 8": {"repair": {"clients": 12, "think": 8}},
}


def measure(customers: int) -> dict[str, Any]:
    """Return for each case the mean time in the system, found and expected."""
    return {
        name: json.loads(storage_theory(json.dumps(case), customers, 1))
        for name, case in CASES.items()
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--customers", type=int, default=4_000_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments.customers)
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    print("mean time in the system         simulated  theory     off")
    for name, own in found.items():
        off = 100 * (own["found"] / own["expected"] - 1)
        print(f"{name:30} {own['found']:10.4f} {own['expected']:7.4f} {off:+6.2f} %")


if __name__ == "__main__":
    main()
