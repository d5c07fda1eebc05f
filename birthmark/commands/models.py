"""``birthmark models``: stored versions of a model, their rules and images."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.commands.image import image
from birthmark.commands.registry import Place, percent, stored_registry
from birthmark.commands.rules import rules
from birthmark.data.common.plurals import counted
from birthmark.options import Options, with_options
from birthmark.outputs import Json, print_json, print_result
from birthmark.predictor.models.kinds import BEST
from birthmark.terminal import fields, line, numbers, show, styled, table, words, working
from birthmark.training.config import Keeping

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.training.registry.versions import Registry

app = typer.Typer(no_args_is_help=True, help="Manage stored models; list rules; compile images.")

_Version = Annotated[str, typer.Argument(metavar="VERSION", help="stored version")]
_Any = Annotated[
    str | None,
    typer.Argument(metavar="[VERSION]", help="stored version; default: the published one"),
]
_RAW = (
    "serve",
    "point",
    "kinds",
    "held_out_errors",
    "champion",
)  # shown in other words


@app.command("list")
@with_options
def list_(place: Place, as_json: Json = False) -> None:
    """List the stored versions, oldest first."""
    from birthmark.training.registry.versions import with_refresh

    stored = stored_registry(place.registry)
    marks = _marks(stored)
    rows = [_row(stored, version, marks) for version in with_refresh(stored)]
    if as_json:
        print_json({**marks, "versions": rows})
        return
    headings = numbers("Files", "Correct", "Before")
    listed = table("Version", *words("State"), "Serves", *headings)
    for row in rows:
        files = "" if row["files"] is None else f"{row['files']:,}"
        shares = percent(row["correct"]), percent(row["champion"])
        state = styled(", ".join(row["state"]), _style(row["state"]))
        listed.add_row(row["version"], state, _serves(row, " "), files, *shares)
    show(listed)
    for row in rows:
        if {"aside", "damaged"} & {*row["state"]}:
            line("")
            line(f"{row['version']}: {row['reason']}")


def _style(state: list[str]) -> str:
    """Return the style of a version's state in a terminal."""
    return "red" if "damaged" in state else "green" if "current" in state else ""


@app.command("show")
@with_options
def show_(place: Place, version: _Any = None, as_json: Json = False) -> None:
    """Show a version's training data, test results and card."""
    stored = stored_registry(place.registry)
    version = version or stored.published()
    card = _card(stored, version)
    row = _row(stored, version, _marks(stored))
    if as_json:
        print_json({**row, "manifest": stored.manifest(version), "card": card})
        return
    shown_values = {**row, "correct": percent(row["correct"]), "serves": _serves(row, ", ")}
    if row["serve"] == BEST and row["kinds"]:
        shown_values["answers"] = _answering(row["kinds"][row["point"]])
    shown_values["held out"] = _errors(row["held_out_errors"] or {})
    if card is not None:
        shown_values |= _in_words(card) | {"card": str(stored.directory(version) / "card.html")}
    fields({key: value for key, value in shown_values.items() if key not in _RAW})


@app.command()
@with_options
def publish(version: _Version, place: Place, as_json: Json = False) -> None:
    """Publish a stored version, if it is intact."""
    stored = stored_registry(place.registry)
    before = stored.current()
    _refuse_other_release(stored, version)
    stored.make_current(version)
    print_result({"before": before, "current": version}, as_json)


@app.command()
@with_options
def rollback(
    place: Place,
    version: Annotated[
        str | None,
        typer.Argument(metavar="[VERSION]", help="earlier version; default: the previous one"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Publish an earlier version again, if it is intact."""
    stored = stored_registry(place.registry)
    before = stored.current()
    _refuse_other_release(stored, version or stored.previous())
    print_result({"before": before, "current": stored.rollback(version)}, as_json)


@app.command()
@with_options
def pin(
    place: Place,
    version: _Any = None,
    off: Annotated[
        bool, typer.Option("--off", help="end the pin, so that other versions can be published")
    ] = False,
    as_json: Json = False,
) -> None:
    """Publish a version, and keep it published until it is unpinned."""
    stored = stored_registry(place.registry)
    if off and version is not None:
        raise typer.BadParameter("no version is expected with it", param_hint="--off")
    if off:
        stored.unpin()
    else:
        _refuse_other_release(stored, version or stored.current())
        stored.pin(version)
    shown_values = {"pinned": stored.pinned(), "current": stored.current()}
    print_result(
        shown_values if as_json else {**shown_values, "pinned": shown_values["pinned"] or "none"},
        as_json,
    )


@app.command()
@with_options
def verify(
    place: Place,
    version: _Any = None,
    datasets: Annotated[
        Path | None,
        typer.Option(help="train again on this directory's datasets, and compare"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a version is intact, and that training reproduces it."""
    import tempfile
    from dataclasses import asdict

    from birthmark.training.nightly.reproduce import reproduce

    with tempfile.TemporaryDirectory() as cache:
        # the stored files, not a cached copy
        stored = stored_registry(place.registry, cache=Path(cache))
        version = version or stored.published()
        stored.verify(version)
        shown_values: dict[str, Any] = {
            "version": version,
            "intact": len(stored.manifest(version)["parts"]),
        }
        if datasets is not None:
            with working("training again"):
                found = reproduce(stored, version, datasets)
            shown_values |= asdict(found) if as_json else {**asdict(found), "same": len(found.same)}
    print_result(shown_values, as_json)
    if shown_values.get("differs"):
        raise typer.Exit(1)


@app.command()
@with_options
def prune(
    place: Place,
    keeping: Annotated[Keeping, Options()],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only list what would be removed")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove old versions, except published, pinned and previous ones."""
    stored = stored_registry(place.registry)
    going = stored.prune(keeping.keep, dry_run)
    if as_json:
        print_json({"removed": going, "dry_run": dry_run, "versions": stored.versions()})
        return
    for version in going:
        line(f"{'would remove' if dry_run else 'removed'}  {version}")


def _refuse_other_release(stored: Registry, version: str | None) -> None:
    """Raise ValueError for a version of another release, which cannot be served."""
    from birthmark.predictor.trained import refuse_other_release

    if version is not None:
        refuse_other_release(stored.directory(version))


def _marks(stored: Registry) -> dict[str, str | None]:
    return {"current": stored.current(), "pinned": stored.pinned(), "previous": stored.previous()}


def _row(stored: Registry, version: str, marks: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the row of a version; a damaged manifest is a state."""
    state = [name for name, marked in marks.items() if marked == version]
    row: dict[str, Any] = {"version": version, "state": state}
    try:
        manifest = stored.manifest(version)
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
    """Return the usual kind, and the predicates and history scopes of the others."""
    from birthmark.features.history_scope import HISTORY_SCOPES  # slow to import

    counts = Counter(kind for choice in kinds.values() for kind in choice.values())
    usual, *others = (kind for kind, _ in counts.most_common())
    parts = [usual]
    for kind in others:
        own = {
            key: [t for t in HISTORY_SCOPES if choice[t] == kind] for key, choice in kinds.items()
        }
        of = (f"{key} ({', '.join(scopes)})" for key, scopes in own.items() if scopes)
        parts.append(f"{kind}: {', '.join(of)}")
    return "; ".join(parts)


def _errors(errors: Mapping[str, float]) -> str:
    """Return the error of each kind on held-out files, best first."""
    kinds = sorted(errors, key=lambda kind: errors[kind])
    return ", ".join(f"{kind} {percent(errors[kind])}" for kind in kinds) + " wrong" * bool(kinds)


def _card(stored: Registry, version: str) -> dict[str, Any] | None:
    path = stored.directory(version) / "card.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def _promised(bound: Mapping[str, Any]) -> str:
    """Return the error bounds; cards of older releases have none for no."""
    no = bound.get("false_negative_bound")
    of_no = "" if no is None else f" and {no:g}% wrongly no"
    return f"{bound['bound']:g}% wrongly yes{of_no} at most, {bound['confidence']:g}% sure"


def _in_words(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the main entries of a card."""
    trained, bound, test, drift = (card[key] for key in ("trained_on", "bound", "test", "drift"))
    abstains = [key for key, own in bound["predicates"].items() if own["abstains"]]
    shown_values = {
        "datasets": trained["datasets"],
        "servers": trained["servers"],
        "from": trained["since"],
        "until": trained["until"],
        "bound": _promised(bound),
        "abstains": abstains,
    }
    if test:
        shown_values["tested"] = (
            f"on {counted(test['files'], 'files')} of {test['day'] or 'the newest quarter'}"
        )
        shown_values["bounds"] = test.get("bounds")
    if drift:
        shown_values["against"] = drift["against"]
        if rules := drift["rules"]:
            shown_values["rules"] = (
                f"{rules['kept']:,} kept, {rules['new']:,} new, {rules['gone']:,} gone"
            )
    return shown_values


app.command()(rules)
app.command()(image)
