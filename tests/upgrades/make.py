"""Make a small site by the program of a release, for `test_upgrades.py` to meet later ones.

In a checkout of that release: ``python PATH/make.py DIRECTORY``, and then
``tar -cJf PATH/COMMIT.tar.xz -C DIRECTORY .``, where COMMIT is the release's.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from tests.builders.lives import MONDAY, day_of_lives
from tests.builders.traces import trace_of

CONFIG = """\
[traces]
files = ["traces/*"]
settle_seconds = 0

[datasets]
directory = "datasets"

[registry]
directory = "registry"

[training]
trees = 2
rounds = 1
"""


def trace(day: int) -> str:
    """Return the traffic of a day of 60 files, as nfsdump writes it."""
    return trace_of(day_of_lives(MONDAY + timedelta(days=day), each=20))


def main(site: Path) -> None:
    """Run two nights, and remove the traces: to a later night a moved one would be new."""
    (site / "traces").mkdir(parents=True)
    (site / "birthmark.toml").write_text(CONFIG)
    for day in (0, 1):
        path = site / "traces" / f"day{day}.txt"
        path.write_text(trace(day))
        command = [sys.executable, "-m", "birthmark", "nightly", "--config"]
        subprocess.run([*command, str(site / "birthmark.toml")], check=True)
    for path in (site / "traces").iterdir():
        path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
