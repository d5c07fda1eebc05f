"""Reading ahead over NFS today: how long a window of the client does good, in the simulator.

    python -m benchmarks.storage_readahead [--seeds N] [--json]

Printed beside rates that administrators measured on their own machines, which are not these: what
compares is where the rate rises and where it falls.
"""

from __future__ import annotations

import argparse
import json

from birthmark.research.native import storage_stream

KB, MB = 2**10, 2**20
WINDOWS = (128, 256, 512, 1024, 2048, 2560, 4096, 8192, 15360)
"""Read-ahead of the client, in KB."""

MACHINES = {
    "bytes": 512 * MB,
    "asked": 64 * KB,
    "copy": 15_000,
    "rsize": MB,
    "wire": 1_180_000_000,
    "latency": 30_000,
    "threads": 32,
    "wake": 30_000,
    "work": 50_000,
    "disks": 8,
    "disk_rate": 200_000_000,
    "position": 6_000_000,
}
"""10 Gbit/s, and a pool of eight disks that is faster than that. All of it is assumed."""

SERVERS = {
    "OpenZFS 2.2, records of 128 KB": {"record": 128 * KB, "max_reorder": 0},
    "OpenZFS 2.2, records of 1 MB": {"record": MB, "max_reorder": 0},
    "OpenZFS 2.4, records of 128 KB": {"record": 128 * KB, "max_reorder": 16 * MB},
    "OpenZFS 2.4, records of 1 MB": {"record": MB, "max_reorder": 16 * MB},
}
"""``recordsize``, by default and as its guide has it for large files that are read from start to
end; and how far a read may come before its turn (``zfetch_max_reorder``)."""

MEASURED = {
    "honnef.co/notes/20230128011632": {128: 300, 1024: 940, 2560: 850},
    "buroa/home-ops#5862": {128: 650, 1024: 942, 15360: 380},
}
"""MB/s that were measured over 10 Gbit/s with calls of 1 MB."""


def measure(seeds: int, size: int = 512 * MB) -> dict[str, dict[int, float]]:
    """Return for each server and window the rate in MB/s, mean over the seeds."""
    return {
        name: {
            window: _rate(server | {"read_ahead": window * KB}, seeds, size) for window in WINDOWS
        }
        for name, server in SERVERS.items()
    }


def _rate(server: dict[str, int], seeds: int, size: int) -> float:
    rates = []
    for seed in range(1, seeds + 1):
        setup = MACHINES | server | {"bytes": size, "seed": seed}
        found = json.loads(storage_stream(json.dumps(setup)))
        rates.append(size / 1e6 / (found["time"] / 1e9))
    return sum(rates) / seeds


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments.seeds)
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    print("MB/s for a read-ahead of, KB     " + "".join(f"{window:7}" for window in WINDOWS))
    for name, rates in found.items():
        print(f"{name:33}" + "".join(f"{rates[window]:7.0f}" for window in WINDOWS))
    for name, measured in MEASURED.items():
        print(f"{name:33}" + "".join(f"{measured.get(window, ''):>7}" for window in WINDOWS))


if __name__ == "__main__":
    main()
