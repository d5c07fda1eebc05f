"""The commands that train models, test them and report on them."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.exits import BUSY, MISCONFIGURED, REFUSED, exits
from birthmark.options import Options, described, with_options
from birthmark.outputs import Json, output, tell
from birthmark.serving.settings import Settings as Serving
from birthmark.terminal import line, paragraphs, show, working
from birthmark.training.config import Settings, Testing

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.predictor import Predicate
    from birthmark.predictor.models.estimators.estimator import Estimator
    from birthmark.training.reports.evaluation_run import EvaluationRun

_Datasets = Annotated[
    list[Path], typer.Argument(metavar="DATASET", help="datasets that `birthmark ingest` made")
]
_Dataset = Annotated[
    Path, typer.Argument(metavar="DATASET", help="dataset that `birthmark ingest` made")
]
_Registry = Annotated[str, described(Serving, "registry")]
_Version = Annotated[
    str | None, typer.Option(help="stored version of the model; default: the published")
]
Configured = Annotated[
    Path | None,
    typer.Option(help="TOML file with predicates and estimators of your own, to train as well"),
]
_Loss = Annotated[Settings, Options(only=("without_loss",))]
_Estimators = Annotated[
    bool,
    typer.Option(
        "--estimators",
        help="test estimators of your own, too, which runs the code that they were saved with",
    ),
]


@with_options
def train(
    datasets: _Datasets,
    registry: _Registry,
    settings: Annotated[Settings, Options()],
    testing: Annotated[Testing, Options()],
    config: Configured = None,
    as_json: Json = False,
) -> None:
    """Train on the datasets together, and publish the model."""
    from birthmark.data.generated import describe
    from birthmark.training.learn.train import read_lives
    from birthmark.training.nightly.candidate import train_alone
    from birthmark.training.registry.stored import load_published
    from birthmark.training.registry.versions import Registry

    predicates, estimators = own_of(config)
    with working("training") as step:
        versions = Registry(registry)
        lives = read_lives(datasets, settings.without_loss)
        asked = predicates, testing.test, estimators
        candidate = train_alone(load_published(versions), lives, settings, *asked)
        step("publishing")
        version = versions.publish(candidate.write_parts, candidate.manifest)
    manifest = candidate.manifest
    trained = manifest["trained_on"]
    result = {
        "version": version,
        "files": trained["files"],
        "names": trained["names"],
        "rules": sum(manifest["rules"].values()),
        "left_out": trained["loss"]["files"] + trained["loss"]["names"]
        if settings.without_loss
        else None,
    }
    if trained["generated"]:
        marks = trained["generated"]
        result["generated"] = marks if as_json else describe(marks).removeprefix("generated: ")
    tell(result, as_json)


def own_of(config: Path | None) -> tuple[Collection[Predicate], Mapping[str, Estimator]]:
    """Return the predicates and the estimators to train, with those of a file of the user's.

    Exits as a program with bad settings does where that cannot be used.
    """
    from birthmark.training.config import ConfigError, Own, read_own

    with exits(MISCONFIGURED, ConfigError):
        own = Own() if config is None else read_own(config)
        return own.all_predicates().values(), own.all_estimators()


@with_options
def evaluate(
    dataset: _Dataset,
    registry: _Registry,
    loss: _Loss,
    version: _Version = None,
    as_json: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE", help="write the result as JSON to this file; - prints it"
        ),
    ] = None,
    parquet: Annotated[
        Path | None, output("write the table of accuracy to this file, Parquet")
    ] = None,
    curves: Annotated[
        Path | None,
        output("write curves of calibration, precision and cost to this file, Parquet"),
    ] = None,
    breakdown: Annotated[
        Path | None, output("write accuracy by user, client and depth to this file, Parquet")
    ] = None,
    answers: Annotated[
        Path | None, output("write how often yes and no were right to this file, Parquet")
    ] = None,
    plot: Annotated[
        Path | None, output("draw the accuracy of all models to this file, .svg or .png")
    ] = None,
    estimators: _Estimators = False,
    all_models: Annotated[
        bool, typer.Option("--all-models", help="print the figures of every kind of model, too")
    ] = False,
) -> None:
    """Test a model on a dataset: how often it is right about what files became."""
    from pyarrow.parquet import write_table

    from birthmark.training.reports.figure import draw

    with working("testing"):
        trial = _trial(dataset, registry, version, loss.without_loss, estimators)
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
    _tell(trial, all_models or estimators)


def _tell(trial: EvaluationRun, all_models: bool) -> None:
    """Print the verdict, how right what answers is, and the other models where they are wanted."""
    from birthmark.training.reports.terminal import accuracy_tables, bounds_tables, served_tables

    said = trial.served_answers()
    line(trial.in_words())
    line("")
    paragraphs(trial.verdict.lines() if trial.verdict else {})
    tables = served_tables(trial.served(), said)
    if all_models:
        tables += [*bounds_tables(said), *accuracy_tables(trial.evaluation)]
    for table in tables:
        line("")
        show(table)
    line("")
    paragraphs({"Bounds": f"{trial.bounds_in_words()}."})
    if trial.touched.files or trial.touched.names:
        paragraphs({"Loss": f"It may have touched {trial.touched.in_words()}."})
    _tell_untested(trial)


@with_options
def report(
    dataset: _Dataset,
    registry: _Registry,
    out: Annotated[Path, output("HTML page to write")],
    loss: _Loss,
    version: _Version = None,
    estimators: _Estimators = False,
) -> None:
    """Write a page on a model's accuracy, its sensitivity to minfrac, and the tested files."""
    with working("testing and drawing"):
        trial = _trial(dataset, registry, version, loss.without_loss, estimators)
        out.write_text(trial.report(), encoding="utf-8")
    _tell_untested(trial)


def nightly(
    config: Annotated[Path, typer.Option(help="TOML file of settings")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only say what would be taken in and removed")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take in new traces, test the published model on them, train and publish its successor."""
    if dry_run:
        _rehearse(config, as_json)
        return
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
    tell(result, as_json)
    if night.refused:
        sys.exit(REFUSED)


def _rehearse(config: Path, as_json: bool) -> None:
    from birthmark.training.config import ConfigError, read_config
    from birthmark.training.nightly.rehearsal import rehearse

    with exits(MISCONFIGURED, ConfigError):
        found = rehearse(read_config(config))
    told = found.to_json()
    if not as_json:
        told |= {"waiting": len(found.waiting) or None, "refused": list(found.refused.values())}
    tell(told, as_json)


def _tell_untested(trial: EvaluationRun) -> None:
    model = trial.stored.model
    if own := [kind for kind in model.estimators if kind not in model.kinds]:
        line(f"Not tested without --estimators: {', '.join(own)}")


def _trial(
    dataset: Path, registry: str, version: str | None, without_loss: bool, estimators: bool
) -> EvaluationRun:
    """Return a version's test; raise ValueError for a dataset that shows nothing to test."""
    from birthmark.training.registry.stored import load
    from birthmark.training.registry.versions import Registry
    from birthmark.training.reports.evaluation_run import EvaluationRun

    trial = EvaluationRun(load(Registry(registry), version, estimators), dataset, without_loss)
    trial.expect_births()
    return trial
