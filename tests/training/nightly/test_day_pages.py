from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from birthmark.training.config import Config, Datasets, DayPage, Engine, RegistryConfig, Traces
from birthmark.training.engine import opened
from birthmark.training.nightly.day_pages import lacking, write_pages
from birthmark.training.nightly.intake import Dataset, Entry, datasets, take_in
from birthmark.training.registry.versions import Registry


@pytest.fixture(scope="module")
def taken_in(traces: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of the datasets of two days."""
    place = tmp_path_factory.mktemp("days")
    for number, text in enumerate(traces[:2]):
        trace = place / f"day{number}.txt"
        trace.write_text(text)
        with opened(Engine(workers=1), place):
            take_in({"": [Entry.of(trace)]}, place)
    return place


@pytest.fixture
def place(taken_in: Path, tmp_path: Path) -> Path:
    return shutil.copytree(taken_in, tmp_path / "days")


def configured(place: Path, enabled: bool = True) -> Config:
    return Config(
        traces=Traces(files=["*.txt"]),
        datasets=Datasets(directory=place),
        registry=RegistryConfig(directory=place / "registry"),
        day_page=DayPage(enabled=enabled),
    )


def written(place: Path, advice: list[str]) -> tuple[Registry, list[Dataset]]:
    config, registry, held = configured(place), Registry(place / "registry"), datasets(place)
    (place / "registry").mkdir(exist_ok=True)
    with opened(config.engine, place):
        write_pages(registry, held, lacking(config, held), lambda dataset: advice)
    return registry, held


def test_each_day_gets_a_page_once_and_the_newest_is_beside_the_versions(place: Path) -> None:
    registry, held = written(place, ["Buy memory."])
    pages = [(dataset.path / "day.html").read_text() for dataset in held]
    assert "There is no earlier day" in pages[0]
    assert f"The load was that of {held[0].since:%Y-%m-%d}" in pages[1]
    assert all("<li>Buy memory.</li>" in page for page in pages)
    assert registry.read("day.html") == pages[1].encode()
    assert lacking(configured(place), held) == []


def test_a_night_that_was_killed_before_a_page_was_written_is_made_up_for(place: Path) -> None:
    _, held = written(place, [])
    before = (held[1].path / "day.html").read_text()
    (held[1].path / "day.html").unlink()
    assert lacking(configured(place), held) == [held[1]]
    written(place, [])
    assert (held[1].path / "day.html").read_text() == before


def test_a_day_of_another_server_is_not_compared(place: Path) -> None:
    _, held = written(place, [])
    figures = held[0].path / "day.json"
    figures.write_text(json.dumps(json.loads(figures.read_text()) | {"servers": ["another"]}))
    (held[1].path / "day.html").unlink()
    written(place, [])
    assert "There is no earlier day" in (held[1].path / "day.html").read_text()


def test_warnings_and_losses_of_a_day_are_on_its_page_with_what_to_do(place: Path) -> None:
    (intake,) = (datasets(place)[0].path).glob("intake.json")
    report = json.loads(intake.read_text())
    report["summary"] |= {"warnings": ["monday.txt: holds no NFS"], "loss": {"fraction": 0.05}}
    intake.write_text(json.dumps(report))
    _, held = written(place, [])
    page = (held[0].path / "day.html").read_text()
    assert "<li>monday.txt: holds no NFS</li>" in page
    assert "5.0% of the messages were lost before the capture" in page


def test_pages_may_be_switched_off_and_are_not_made_of_days_before_the_window(place: Path) -> None:
    held = datasets(place)
    assert lacking(configured(place, enabled=False), held) == []
    config = configured(place)
    short = config.training.model_copy(update={"window_days": 0.1})
    assert lacking(config.model_copy(update={"training": short}), held) == [held[1]]
