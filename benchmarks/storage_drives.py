"""The drives that were measured: how near the simulated ones come to them.

    python -m benchmarks.storage_drives FOLDER [--json]

FOLDER holds the traces of DiskSim's validation suite, ``NAME.trace``, plain or compressed (``.xz``
and the like), each of 10,000 requests that were measured on the drive of that name.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import DRIVES
from birthmark.research.validate import validate


def measure(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the agreement of each drive with a trace."""
    traces = {name: sorted(folder.glob(f"{name}.trace*")) for name in DRIVES}
    return {name: validate(found[0], name) for name, found in traces.items() if found}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments.folder)
    if not found:
        raise SystemExit(f"{arguments.folder}: expected a trace: {', '.join(DRIVES)}.trace*")
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    print("drive        requests  measured ms  simulated ms  demerit ms  of the mean")
    for name, own in found.items():
        share = 100 * own["demerit_ms"] / own["measured_mean_ms"]
        times = f"{own['measured_mean_ms']:12.3f} {own['mean_ms']:13.3f} {own['demerit_ms']:11.3f}"
        print(f"{name:11} {own['requests']:9,} {times} {share:10.1f} %")


if __name__ == "__main__":
    main()
