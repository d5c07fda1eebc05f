"""Whether two commits answer alike: tables, figures, answers of all models, lookups in images.

    python -m benchmarks.identical OLD NEW [--learn TRACE] [--ask TRACE] [--keep DIR]

Both commits are built (as by ``benchmarks.compare``, whose builds ``--keep`` shares), train on the
first trace with their default settings, and answer about the files created in the second; without
traces these are the bundled days. Printed is what differs: a column of a table, a row of an
evaluation, the answers of a kind of model or of an image to a predicate. Exits with 1 if anything
does. Figures compared are counts and thresholds; those that follow from them are not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from benchmarks.compare import say
from benchmarks.compare_build import Build, Commit, build
from birthmark.data.samples import DAYS

MEASURE = Path(__file__).with_name("identical_measure.py")


def answered(built: Build, learn: Path, ask: Path) -> dict[str, str]:
    """Return a digest of each thing that a commit's build answers."""
    scratch = built.checkout / ".identical"
    command = [str(each) for each in (built.python, "-P", MEASURE, learn, ask, scratch)]
    done = subprocess.run(
        command, cwd=built.checkout, env=built.environment, check=True, stdout=subprocess.PIPE
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def differences(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return a line for each thing that differs, or that only one of the two has."""
    words = {name: "differs" for name in old.keys() & new.keys() if old[name] != new[name]}
    words |= dict.fromkeys(old.keys() - new.keys(), "is of the old commit alone")
    words |= dict.fromkeys(new.keys() - old.keys(), "is of the new commit alone")
    return [f"{name} {words[name]}" for name in sorted(words)]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Commit.named)
    parser.add_argument("new", type=Commit.named)
    parser.add_argument("--learn", type=Path, default=DAYS[0])
    parser.add_argument("--ask", type=Path, default=DAYS[1])
    parser.add_argument("--keep", type=Path, help="folder that keeps builds")
    args = parser.parse_args()
    found = []
    with ExitStack() as stack:
        scratch = args.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scratch.mkdir(parents=True, exist_ok=True)
        for commit in (args.old, args.new):
            say(f"building {commit}")
            built = build(commit, scratch.resolve())
            say(f"asking {commit}")
            found.append(answered(built, args.learn.resolve(), args.ask.resolve()))
    old, new = found
    differing = differences(old, new)
    print("\n".join(differing))
    compared = Counter(name.partition(" ")[0] for name in old.keys() & new.keys())
    counts = ", ".join(f"{count} of {kind}" for kind, count in sorted(compared.items()))
    print(f"compared: {counts}; {len(differing)} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
