"""The commands that train models, test them and report on them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.exits import BUSY, MISCONFIGURED, REFUSED, exits
from birthmark.outputs import named
from birthmark.predictor.models.kinds import Kind
from birthmark.terminal import fields, line, show, working

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.training.reports.evaluation_run import EvaluationRun

_Datasets = Annotated[
    list[Path], typer.Argument(metavar="DATASET", help="Directories written by `ingest`.")
]
_Dataset = Annotated[Path, typer.Argument(metavar="DATASET", help="Written by `ingest`.")]
_Registry = Annotated[
    str, typer.Option(help="The directory that keeps trained models, or its URI (s3://…).")
]
_Version = Annotated[str | None, typer.Option(help="A stored version.  [default: the published]")]
_WithoutLoss = Annotated[
    bool, typer.Option("--without-loss", help="Leave out lives that loss may have touched.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]


class Point(StrEnum):
    """One of a model's two thresholds."""

    bounded = "bounded"
    accurate = "accurate"


def train(
    datasets: _Datasets,
    registry: _Registry,
    minfrac: Annotated[
        float, typer.Option(min=0, max=1, help="Least share that bears a rule out.")
    ] = 0.8,
    mincount: Annotated[int, typer.Option(min=0, help="Least files that bear a rule out.")] = 5,
    prefix: Annotated[bool, typer.Option(help="Learn from a name's first five bytes.")] = True,
    purity: Annotated[
        float, typer.Option(min=0.5, max=1, help="Share of one answer that ends a tree.")
    ] = 1.0,
    trees: Annotated[int, typer.Option(min=1, help="Trees of the forest.")] = 32,
    rounds: Annotated[int, typer.Option(min=0, help="Trees that each correct those before.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="What the forest's chance is from.")] = 0,
    calibration: Annotated[
        float,
        typer.Option(min=0, max=0.5, help="Share of lives to choose thresholds on at a time."),
    ] = 0.2,
    bound: Annotated[
        float, typer.Option(min=0, max=1, help="Greatest share of all files wrongly said yes of.")
    ] = 0.01,
    false_negative_bound: Annotated[
        float, typer.Option(min=0, max=1, help="Greatest share of all files wrongly said no of.")
    ] = 0.01,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=1, help="How surely the bounds hold.")
    ] = 0.95,
    serve: Annotated[Kind, typer.Option(help="The kind of model that is to answer.")] = "rules",
    point: Annotated[Point, typer.Option(help="The threshold that is to decide.")] = Point.bounded,
    without_loss: _WithoutLoss = False,
    test: Annotated[
        bool, typer.Option(help="Train on all but the newest first, to test that for the card.")
    ] = True,
    as_json: _Json = False,
) -> None:
    """Train on the datasets together, and publish the model."""
    from birthmark.data.generated import describe
    from birthmark.training.config import Settings
    from birthmark.training.learn.train import read_lives
    from birthmark.training.nightly.candidate import train_alone
    from birthmark.training.registry.stored import load_published
    from birthmark.training.registry.versions import Registry

    settings = Settings(
        minfrac=minfrac,
        mincount=mincount,
        prefix=prefix,
        purity=purity,
        trees=trees,
        rounds=rounds,
        seed=seed,
        calibration=calibration,
        bound=bound,
        false_negative_bound=false_negative_bound,
        confidence=confidence,
        serve=serve,
        point=point.value,
        without_loss=without_loss,
    )
    with working("training") as step:
        versions = Registry(registry)
        lives = read_lives(datasets, without_loss)
        candidate = train_alone(load_published(versions), lives, settings, test=test)
        step("publishing")
        version = versions.publish(candidate.write_parts, candidate.manifest)
    manifest = candidate.manifest
    trained = manifest["trained_on"]
    result = {
        "version": version,
        "files": trained["files"],
        "names": trained["names"],
        "rules": sum(manifest["rules"].values()),
        "left_out": trained["loss"]["files"] + trained["loss"]["names"] if without_loss else None,
    }
    if trained["generated"]:
        marks = trained["generated"]
        result["generated"] = marks if as_json else describe(marks).removeprefix("generated: ")
    _tell(result, as_json)


def evaluate(
    dataset: _Dataset,
    registry: _Registry,
    version: _Version = None,
    without_loss: _WithoutLoss = False,
    as_json: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write JSON there; - prints it.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(callback=named, help="Write the table there.")
    ] = None,
    curves: Annotated[
        Path | None,
        typer.Option(callback=named, help="Write calibration, precision and cost curves there."),
    ] = None,
    breakdown: Annotated[
        Path | None,
        typer.Option(callback=named, help="Write figures by user, client and depth there."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(callback=named, help="Write what yes, no and unsure were worth there."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(callback=named, help="Draw all models there, as .svg or .png.")
    ] = None,
) -> None:
    """Test a model on a dataset: how often it is right about what files became."""
    from pyarrow.parquet import write_table

    from birthmark.data.generated import describe
    from birthmark.training.reports.figure import draw
    from birthmark.training.reports.terminal import accuracy_tables, answers_tables

    with working("testing"):
        trial = _trial(dataset, registry, version, without_loss)
        found = trial.assessment
        for table, path in (
            (found.evaluation, parquet),
            (found.curves, curves),
            (found.breakdown, breakdown),
            (found.answers, answers),
        ):
            if path is not None:
                write_table(table, path)
        if plot is not None:
            draw(found.evaluation, found.curves, plot, dataset.resolve().name)
    text = json.dumps(trial.to_json(), indent=1, allow_nan=False) + "\n"
    if as_json == "-":
        sys.stdout.write(text)
        return
    if as_json is not None:
        Path(as_json).write_text(text, encoding="utf-8")
    tables = accuracy_tables(found.evaluation, describe(trial.generated))
    for table in [*tables, *answers_tables(trial.served_answers())]:
        show(table, columns=200)
    line(f"Bounds of what answers, {trial.bounds_in_words()}")
    if trial.touched.files or trial.touched.names:
        line(f"Loss may have touched {trial.touched.in_words()}.")


def report(
    dataset: _Dataset,
    registry: _Registry,
    out: Annotated[Path, typer.Option(callback=named, help="The HTML page to write.")],
    version: _Version = None,
    without_loss: _WithoutLoss = False,
) -> None:
    """Write a page on a model's accuracy, its sensitivity to minfrac, and the tested files."""
    with working("testing and drawing"):
        trial = _trial(dataset, registry, version, without_loss)
        out.write_text(trial.report(), encoding="utf-8")


def nightly(
    config: Annotated[Path, typer.Option(help="The TOML file of settings.")],
    as_json: _Json = False,
) -> None:
    """Take in new traces, test the published model on them, train and publish its successor."""
    from birthmark.data.common.durable import LockedError
    from birthmark.training.config import ConfigError, read_config
    from birthmark.training.nightly.run import nightly as run

    with (
        exits(MISCONFIGURED, ConfigError),
        exits(BUSY, LockedError),
        working("looking for traces") as step,
    ):
        night = run(read_config(config), step)
    result = night.to_json()
    if not as_json:
        result |= {
            "waiting": len(night.waiting) or None,
            "refused": list(night.refused.values()),
            "set_aside": [f"{count:,} {reason}" for reason, count in night.set_aside.items()],
            "left_out": [f"{name}: {reason}" for name, reason in night.left_out.items()],
            "breaches": [f"{key}: {reason}" for key, reason in night.breaches.items()],
            "decision": night.decision and night.decision.reason,
        }
    _tell(result, as_json)
    if night.refused:
        sys.exit(REFUSED)


def _trial(dataset: Path, registry: str, version: str | None, without_loss: bool) -> EvaluationRun:
    """Return a version's test; raise ValueError for a dataset that shows nothing to test."""
    from birthmark.training.registry.stored import load
    from birthmark.training.registry.versions import Registry
    from birthmark.training.reports.evaluation_run import EvaluationRun

    trial = EvaluationRun(load(Registry(registry), version), dataset, without_loss)
    trial.expect_births()
    return trial


def _tell(result: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(result, indent=1, allow_nan=False))
        return
    fields(result)
