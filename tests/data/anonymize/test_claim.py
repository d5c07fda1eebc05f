"""The claim: models are right exactly as often on the anonymized trace as on the original."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from data.anonymize import Settings as Keep
from data.anonymize import anonymize
from data.datasets import read_files, read_names
from data.ingest import ingest
from data.samples import DAYS
from training.config import Settings
from training.evaluate import evaluate
from training.train import train


def figures(days: list[Path], settings: Settings) -> pa.Table:
    """Train on the first day, test on the second: every figure of every predicate and model."""
    model, _ = train([days[0]], settings)
    return evaluate(model, read_files(days[1]), read_names(days[1]))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("original")
    for day in DAYS:
        ingest([day], root / day.stem)
    return [root / day.stem for day in DAYS]


@pytest.mark.parametrize("way", ["tables", "operations"])
def test_every_figure_is_the_same(originals: list[Path], tmp_path: Path, way: str) -> None:
    sources = {"tables": originals, "operations": DAYS}[way]
    days = [tmp_path / day.stem for day in DAYS]
    for source, day in zip(sources, days, strict=True):
        anonymize([str(source)], str(day), tmp_path / "mapping")  # the second day extends it
    before, after = figures(originals, Settings()), figures(days, Settings())
    assert before.equals(after)
    assert len(before) == 2 * (18 + 5)
    assert set(read_files(days[1])["name"].to_pylist()).isdisjoint(
        name for name in read_files(originals[1])["name"].to_pylist() if name and len(name) > 8
    )


def test_without_prefixes_it_holds_for_models_without_them(
    originals: list[Path], tmp_path: Path
) -> None:
    days = [tmp_path / day.stem for day in DAYS]
    for source, day in zip(originals, days, strict=True):
        anonymize([str(source)], str(day), tmp_path / "mapping", Keep(prefix=False))
    settings = Settings(prefix=False)
    assert figures(originals, settings).equals(figures(days, settings))
