"""``birthmark models``: the versions of a model that are kept, and which of them answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.data.common.plurals import counted
from birthmark.data.common.without_pandas import with_pandas
from birthmark.options import Options, with_options
from birthmark.outputs import Json, output, print_json, tell
from birthmark.predictor.models.kinds import BEST
from birthmark.serving.settings import Settings, variable
from birthmark.terminal import fields, line, numbers, show, styled, table, words, working
from birthmark.training.config import Keeping

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from pandas import DataFrame
    from rich.table import Table

    from birthmark.training.registry.versions import Registry

app = typer.Typer(no_args_is_help=True, help="Keep, choose and check trained models.")

_Version = Annotated[str, typer.Argument(metavar="VERSION", help="stored version")]
_Any = Annotated[
    str | None, typer.Argument(metavar="[VERSION]", help="stored version; default: the published")
]
_RAW = (
    "serve",
    "point",
    "kinds",
    "held_out_errors",
    "champion",
)  # what people are told in other words
_Place = Annotated[Settings, Options(("registry",), variable=variable)]


@app.command("list")
@with_options
def list_(place: _Place, as_json: Json = False) -> None:
    """List the versions that are stored, oldest first."""
    kept = _registry(place.registry)
    marks = _marks(kept)
    rows = [_row(kept, version, marks) for version in kept.versions()]
    if as_json:
        print_json({**marks, "versions": rows})
        return
    headings = numbers("Files", "Correct", "Before")
    listed = table("Version", *words("State"), "Serves", *headings)
    for row in rows:
        files = "" if row["files"] is None else f"{row['files']:,}"
        shares = _percent(row["correct"]), _percent(row["champion"])
        state = styled(", ".join(row["state"]), _style(row["state"]))
        listed.add_row(row["version"], state, _serves(row, " "), files, *shares)
    show(listed)
    for row in rows:
        if {"aside", "damaged"} & {*row["state"]}:
            line("")
            line(f"{row['version']}: {row['reason']}")


def _style(state: list[str]) -> str:
    """Return how the state of a version looks in a terminal."""
    return "red" if "damaged" in state else "green" if "current" in state else ""


@app.command("show")
@with_options
def show_(place: _Place, version: _Any = None, as_json: Json = False) -> None:
    """Show what a version learned from, whom it fails, and where its card is."""
    kept = _registry(place.registry)
    version = version or kept.published()
    card = _card(kept, version)
    row = _row(kept, version, _marks(kept))
    if as_json:
        print_json({**row, "manifest": kept.manifest(version), "card": card})
        return
    told = {**row, "correct": _percent(row["correct"]), "serves": _serves(row, ", ")}
    if row["serve"] == BEST and row["kinds"]:
        told["answers"] = _answering(row["kinds"][row["point"]])
    told["held out"] = _errors(row["held_out_errors"] or {})
    if card is not None:
        told |= _in_words(card) | {"card": str(kept.directory(version) / "card.html")}
    fields({key: value for key, value in told.items() if key not in _RAW})


@app.command()
@with_options
def publish(version: _Version, place: _Place, as_json: Json = False) -> None:
    """Let a stored version answer, if it is intact."""
    kept = _registry(place.registry)
    before = kept.current()
    _refuse_other_release(kept, version)
    kept.make_current(version)
    tell({"before": before, "current": version}, as_json)


@app.command()
@with_options
def rollback(
    place: _Place,
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="[VERSION]", help="earlier version; default: the one published before"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Publish an earlier version again, if it is intact."""
    kept = _registry(place.registry)
    before = kept.current()
    _refuse_other_release(kept, version or kept.previous())
    tell({"before": before, "current": kept.rollback(version)}, as_json)


@app.command()
@with_options
def pin(
    place: _Place,
    version: _Any = None,
    off: Annotated[
        bool, typer.Option("--off", help="end the pin: other versions may be published again")
    ] = False,
    as_json: Json = False,
) -> None:
    """Let a version answer, and publish no other until that is undone."""
    kept = _registry(place.registry)
    if off and version is not None:
        raise typer.BadParameter("no version is expected with it", param_hint="--off")
    if off:
        kept.unpin()
    else:
        _refuse_other_release(kept, version or kept.current())
        kept.pin(version)
    told = {"pinned": kept.pinned(), "current": kept.current()}
    tell(told if as_json else {**told, "pinned": told["pinned"] or "none"}, as_json)


@app.command()
@with_options
def verify(
    place: _Place,
    version: _Any = None,
    datasets: Annotated[
        Path | None,
        typer.Option(help="train again on the datasets in this directory, and compare"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a version is what was stored, and comes out the same when trained again."""
    import tempfile
    from dataclasses import asdict

    from birthmark.training.nightly.reproduce import reproduce

    with tempfile.TemporaryDirectory() as cache:
        kept = _registry(place.registry, cache=Path(cache))  # what is stored, and no copy of it
        version = version or kept.published()
        kept.verify(version)
        told: dict[str, Any] = {"version": version, "intact": len(kept.manifest(version)["parts"])}
        if datasets is not None:
            with working("training again"):
                found = reproduce(kept, version, datasets)
            told |= asdict(found) if as_json else {**asdict(found), "same": len(found.same)}
    tell(told, as_json)
    if told.get("differs"):
        raise typer.Exit(1)


@app.command()
@with_options
def compare(
    versions: Annotated[
        list[str], typer.Argument(metavar="VERSION", help="stored versions, two or more")
    ],
    place: _Place,
    dataset: Annotated[
        Path | None, typer.Option(help="test all of them on this dataset, and compare")
    ] = None,
    estimators: Annotated[
        bool,
        typer.Option("--estimators", help="test estimators of your own, too; runs their code"),
    ] = False,
    parquet: Annotated[
        Path | None, output("write all figures of these tests to this file, Parquet")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show side by side how versions were trained, and how each does on one dataset."""
    with_pandas()
    from birthmark.training.reports import side_by_side

    kept = _registry(place.registry)
    if len(set(versions)) < 2:
        raise typer.BadParameter("expected two versions or more", param_hint="VERSION")
    if parquet is not None and dataset is None:
        raise typer.BadParameter("is for the tests on a --dataset", param_hint="--parquet")
    differs = side_by_side.differences(kept, versions)
    told: dict[str, Any] = {"differences": json.loads(differs.to_json(orient="index"))}
    shown = [_side_by_side("What differs", differs)]
    if dataset is not None:
        with working("testing"):
            figures = side_by_side.figures(kept, versions, dataset, estimators)
        means = side_by_side.means(figures)
        told["means"] = json.loads(means.reset_index().to_json(orient="records"))
        shown.append(_means("Means over the predicates of files", means))
        if parquet is not None:
            figures.to_parquet(parquet)
    if as_json:
        print_json(told)
        return
    for number, each in enumerate(shown):
        if number:
            line("")
        show(each)


@app.command()
@with_options
def prune(
    place: _Place,
    keeping: Annotated[Keeping, Options()],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only list what would be removed")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove old versions, but none that is published, pinned or gone back to."""
    kept = _registry(place.registry)
    going = kept.prune(keeping.keep, dry_run)
    if as_json:
        print_json({"removed": going, "dry_run": dry_run, "versions": kept.versions()})
        return
    for version in going:
        line(f"{'would remove' if dry_run else 'removed'}  {version}")


def _side_by_side(title: str, frame: DataFrame) -> Table:
    drawn = table("", *words(*frame.columns), title=title)
    for name, cells in frame.iterrows():
        drawn.add_row(str(name), *map(_cell, cells))
    return drawn


def _means(title: str, frame: DataFrame) -> Table:
    drawn = table("Model", "Version", *numbers("Correct", "TruePos", "FalsePos"), title=title)
    for row in frame.reset_index().to_dict("records"):
        figures = (row[column] for column in frame.columns)
        drawn.add_row(row["model"], row["version"], *map(_percent, figures))
    return drawn


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None or value != value:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _registry(place: Path | str, cache: Path | None = None) -> Registry:
    from birthmark.training.registry.versions import Registry, RegistryError

    kept = Registry(place, cache=cache)
    if why := kept.missing():
        raise RegistryError(f"{why}; expected a registry")
    return kept


def _refuse_other_release(kept: Registry, version: str | None) -> None:
    """Raise ValueError for a version of another release, from which nobody could answer."""
    from birthmark.predictor.trained import refuse_other_release

    if version is not None:
        refuse_other_release(kept.directory(version))


def _marks(kept: Registry) -> dict[str, str | None]:
    return {"current": kept.current(), "pinned": kept.pinned(), "previous": kept.previous()}


def _row(kept: Registry, version: str, marks: Mapping[str, str | None]) -> dict[str, Any]:
    """Return what is listed of a version; of one whose manifest is damaged, that."""
    state = [name for name, marked in marks.items() if marked == version]
    row: dict[str, Any] = {"version": version, "state": state}
    try:
        manifest = kept.manifest(version)
    except ValueError as error:
        unknown = dict.fromkeys(
            (
                "created",
                "serve",
                "point",
                "files",
                "kinds",
                "held_out_errors",
                "correct",
                "champion",
            )
        )
        return {**row, **unknown, "state": [*state, "damaged"], "reason": str(error)}
    decision = manifest.get("decision") or {}
    if decision.get("publish") is False:
        state.append("aside")
    return {
        **row,
        **{key: manifest.get(key) for key in ("created", "serve", "point")},
        "files": manifest.get("trained_on", {}).get("files"),
        "kinds": manifest.get("kinds"),
        "held_out_errors": manifest.get("held_out_errors"),
        "correct": decision.get("candidate"),
        "champion": decision.get("champion"),
        "reason": decision.get("reason"),
    }


def _serves(row: Mapping[str, Any], between: str) -> str:
    return between.join(filter(None, (row["serve"], row["point"])))


def _answering(kinds: Mapping[str, Mapping[str, str]]) -> str:
    """Return which kind answers most, and what others answer: predicates, by what is told."""
    from birthmark.features.told import TOLD  # slow to import

    counts = Counter(kind for choice in kinds.values() for kind in choice.values())
    usual, *others = (kind for kind, _ in counts.most_common())
    parts = [usual]
    for kind in others:
        own = {key: [t for t in TOLD if choice[t] == kind] for key, choice in kinds.items()}
        of = (f"{key} ({', '.join(told)})" for key, told in own.items() if told)
        parts.append(f"{kind}: {', '.join(of)}")
    return "; ".join(parts)


def _errors(errors: Mapping[str, float]) -> str:
    """Return how often each kind was wrong about the files that were held out, the best first."""
    kinds = sorted(errors, key=lambda kind: errors[kind])
    return ", ".join(f"{kind} {_percent(errors[kind])}" for kind in kinds) + " wrong" * bool(kinds)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}%"


def _card(kept: Registry, version: str) -> dict[str, Any] | None:
    path = kept.directory(version) / "card.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def _promised(bound: Mapping[str, Any]) -> str:
    """Return what is promised; of cards from before there were three answers, of a yes alone."""
    no = bound.get("false_negative_bound")
    of_no = "" if no is None else f" and {no:g}% wrongly no"
    return f"{bound['bound']:g}% wrongly yes{of_no} at most, {bound['confidence']:g}% sure"


def _in_words(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the heads of a card."""
    trained, bound, test, drift = (card[key] for key in ("trained_on", "bound", "test", "drift"))
    abstains = [key for key, own in bound["predicates"].items() if own["abstains"]]
    told = {
        "datasets": trained["datasets"],
        "servers": trained["servers"],
        "from": trained["since"],
        "until": trained["until"],
        "bound": _promised(bound),
        "abstains": abstains,
    }
    if test:
        told["tested"] = (
            f"on {counted(test['files'], 'files')} of {test['day'] or 'the newest quarter'}"
        )
        told["bounds"] = test.get("bounds")
    if drift:
        told["against"] = drift["against"]
        if rules := drift["rules"]:
            told["rules"] = f"{rules['kept']:,} kept, {rules['new']:,} new, {rules['gone']:,} gone"
    return told
