"""``birthmark evaluate``: the accuracy of models, and comparisons of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.commands.train import Configured, own_of
from birthmark.commands.versions import versions
from birthmark.groups import DefaultGroup
from birthmark.options import Options, described, with_options
from birthmark.outputs import output, print_json
from birthmark.serving.settings import Settings as Serving
from birthmark.terminal import line, paragraphs, show, working
from birthmark.training.config import Settings, Windows

if TYPE_CHECKING:
    from birthmark.training.reports.evaluation_run import EvaluationRun

app = typer.Typer(
    cls=DefaultGroup,
    no_args_is_help=True,
    help="""Measure accuracy; compare versions and training windows.

    `evaluate DATASET` is short for `evaluate dataset DATASET`.
    """,
)

_Dataset = Annotated[
    Path, typer.Argument(metavar="DATASET", help="dataset that `birthmark ingest` made")
]
_Registry = Annotated[str, described(Serving, "registry")]
_Version = Annotated[str | None, typer.Option(help="stored version; default: the published one")]
_Loss = Annotated[Settings, Options(only=("without_loss",))]
_Estimators = Annotated[
    bool,
    typer.Option(
        "--estimators",
        help="test custom estimators, too, which runs their code",
    ),
]


@app.command("dataset")
@with_options
def evaluate(
    dataset: _Dataset,
    registry: _Registry,
    loss: _Loss,
    version: _Version = None,
    as_json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="file for the result as JSON; - prints it"),
    ] = None,
    parquet: Annotated[Path | None, output("file for the table of accuracy, Parquet")] = None,
    curves: Annotated[
        Path | None,
        output("file for curves of calibration, precision and cost, Parquet"),
    ] = None,
    breakdown: Annotated[
        Path | None, output("file for accuracy by user, client and depth, Parquet")
    ] = None,
    answers: Annotated[Path | None, output("file for the accuracy of yes and no, Parquet")] = None,
    plot: Annotated[
        Path | None, output("file for a plot of all models' accuracy, .svg or .png")
    ] = None,
    estimators: _Estimators = False,
    all_models: Annotated[
        bool, typer.Option("--all-models", help="print the figures of every type of model, too")
    ] = False,
) -> None:
    """Measure the accuracy of a model on a dataset."""
    from pyarrow.parquet import write_table

    from birthmark.data.common.durable import output as output_file
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
                with output_file(path) as file:
                    write_table(table, file)
        if plot is not None:
            draw(found.evaluation, found.curves, plot, dataset.resolve().name)
    text = json.dumps(trial.to_json(), indent=1, allow_nan=False) + "\n"
    if as_json == "-":
        sys.stdout.write(text)
        return
    if as_json is not None:
        with output_file(Path(as_json)) as file:
            file.write_text(text, encoding="utf-8")
    _tell(trial, all_models or estimators)


def _tell(trial: EvaluationRun, all_models: bool) -> None:
    """Print the verdict, the accuracy of the published model, and of all models."""
    from birthmark.training.reports.terminal import accuracy_tables, bounds_tables, served_tables

    answers = trial.served_answers()
    line(trial.in_words())
    line("")
    paragraphs(trial.verdict.lines() if trial.verdict else {})
    tables = served_tables(trial.served(), answers)
    if all_models:
        tables += [*bounds_tables(answers), *accuracy_tables(trial.evaluation)]
    for table in tables:
        line("")
        show(table)
    line("")
    paragraphs({"Bounds": f"{trial.bounds_in_words()}."})
    if trial.touched.files or trial.touched.names:
        paragraphs({"Loss": f"It may have affected {trial.touched.in_words()}."})
    _tell_untested(trial)


@app.command()
@with_options
def report(
    dataset: _Dataset,
    registry: _Registry,
    out: Annotated[Path, output("HTML page to write")],
    loss: _Loss,
    version: _Version = None,
    estimators: _Estimators = False,
) -> None:
    """Write a page: accuracy, sensitivity to minfrac, and files."""
    from birthmark.data.common.durable import output as output_file

    with working("testing and drawing"):
        trial = _trial(dataset, registry, version, loss.without_loss, estimators)
        with output_file(out) as page:
            page.write_text(trial.report(), encoding="utf-8")
    _tell_untested(trial)


@app.command()
@with_options
def windows(
    datasets: Annotated[
        list[Path],
        typer.Argument(metavar="DATASET", help="datasets of one day, oldest first"),
    ],
    test: Annotated[Path, typer.Option(help="dataset of the next day, for the test")],
    compared: Annotated[Windows, Options(named={"lengths": "--days"})],
    settings: Annotated[Settings, Options(only=("without_loss",))],
    config: Configured = None,
    parquet: Annotated[Path | None, output("file for all figures, Parquet")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all figures as JSON")] = False,
) -> None:
    """Compare training windows by accuracy on the next day."""
    from pyarrow.parquet import write_table

    from birthmark.data.common.durable import output as output_file
    from birthmark.training.evaluate.windows import windows as compare
    from birthmark.training.reports.terminal import windows_table

    extensions = own_of(config)
    with working("training and testing"):
        found = compare(datasets, test, settings, *extensions, lengths=compared.lengths)
    if parquet is not None:
        with output_file(parquet) as path:
            write_table(found, path)
    if as_json:
        print_json(found.to_pylist())
        return
    show(windows_table(found), columns=120)


def _tell_untested(trial: EvaluationRun) -> None:
    model = trial.stored.model
    if own := [kind for kind in model.estimators if kind not in model.kinds]:
        line(f"Not tested without --estimators: {', '.join(own)}")


def _trial(
    dataset: Path, registry: str, version: str | None, without_loss: bool, estimators: bool
) -> EvaluationRun:
    """Return a version's test; raise ValueError for a dataset without births."""
    from birthmark.training.registry.stored import load
    from birthmark.training.registry.versions import Registry
    from birthmark.training.reports.evaluation_run import EvaluationRun

    trial = EvaluationRun(load(Registry(registry), version, estimators), dataset, without_loss)
    trial.expect_births()
    return trial


app.command()(versions)
