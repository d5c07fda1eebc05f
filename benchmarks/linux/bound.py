"""Whether F2FS's learned lists keep their bounds on files that nobody learned from.

    python -m benchmarks.linux.bound --registry REGISTRY --days DAY... [--since TIME]

REGISTRY has a model of what was before TIME (ISO 8601, UTC); DAY are ingested datasets. For both
ways to make lists (``layout_hint/f2fs/learned.py``) it prints of how many births each list says
something by the kernel's rule, how many of them make it wrong, their share of all births, and the
bound that is on it: of a hot list those that live for longer than half a minute, of a cold one
those that are written over. Births of which that is not known are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.datasets.tables import read_files
from birthmark.layout_hint.f2fs.births import REWRITTEN, SHORT
from birthmark.layout_hint.f2fs.extensions import Lists, Temperature
from birthmark.layout_hint.f2fs.learned import KIND, learn
from birthmark.predictor import BUILT_IN, TrainedModel, births
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import Registry

WRONG: dict[Temperature, tuple[str, bool]] = {"hot": (SHORT, False), "cold": (REWRITTEN, True)}
"""By list, the predicate whose answer makes it wrong."""


def claimed(lists: Lists, lives: pa.Table, temperature: Temperature) -> tuple[int, int, int]:
    """Return the numbers of births that a list claims, of its wrong claims, and of all births.

    ``lives`` is a files table, of births alone.
    """
    key, wrong = WRONG[temperature]
    answers = BUILT_IN[key].evaluate(lives).to_pylist()
    known = [
        (lists.temperature(name) == temperature, answer == wrong)
        for name, answer in zip(lives["name"].to_pylist(), answers, strict=True)
        if answer is not None
    ]
    return sum(of for of, _ in known), sum(of and bad for of, bad in known), len(known)


def show(registry: Registry, days: Sequence[Path], since: datetime) -> None:
    """Print it for each list, of births since then."""
    published = read_published(registry)
    model = TrainedModel.load(published.directory, only=KIND)
    lives = pa.concat_tables([births(read_files(day)) for day in days])
    lives = lives.filter(pc.greater_equal(lives["born"], pa.scalar(since, lives["born"].type)))
    print(f"{'lists':24} {'births':>8} {'said':>8} {'wrong':>8} {'share':>7} {'bound':>7}")
    for hot in (False, True):
        learned = learn(model, published.abstaining, hot)
        for temperature, own in (("cold", learned.cold), ("hot", learned.hot)):
            of, bad, known = claimed(learned.lists, lives, temperature)
            if of:
                name = f"{temperature}, {'with' if hot else 'without'} a hot list"
                share = f"{bad / known:.2%}"
                print(f"{name:24} {known:8,} {of:8,} {bad:8,} {share:>7} {own.bound:7.2%}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--registry", required=True)
    parser.add_argument("--days", type=Path, nargs="+", required=True)
    parser.add_argument("--since", type=datetime.fromisoformat, default=datetime.min)
    given = parser.parse_args()
    show(Registry(given.registry), given.days, given.since.replace(tzinfo=UTC))


if __name__ == "__main__":
    main()
