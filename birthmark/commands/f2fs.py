"""``birthmark f2fs``: the lists by which F2FS places files at their create, learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from birthmark.layout_hint.f2fs.settings import Places
from birthmark.options import Options, with_options
from birthmark.outputs import Json, print_json, tell
from birthmark.serving.settings import Settings, variable
from birthmark.terminal import line, numbers, show

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.layout_hint.f2fs.extensions import Lists
    from birthmark.layout_hint.f2fs.learned import Learned

app = typer.Typer(no_args_is_help=True, help="Have F2FS place files by learned lists of suffixes.")

_Registry = Annotated[Settings, Options(("registry",), variable=variable)]
_Places = Annotated[Places, Options()]
_HELP = "device of an F2FS that is mounted, as sda1"


@app.command()
@with_options
def lists(
    place: _Registry,
    places: _Places,
    device: Annotated[str | None, typer.Argument(metavar="[DEVICE]", help=_HELP)] = None,
    write: Annotated[
        bool, typer.Option("--write", help="change the lists of the device to these")
    ] = False,
    mkfs: Annotated[
        bool, typer.Option("--mkfs", help="print only the options that make mkfs.f2fs add them")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell which suffixes are hot and which cold, with the evidence, and what would change."""
    if write and device is None:
        raise typer.BadParameter("expected a DEVICE with it", param_hint="--write")
    version, learned = _learn(place)
    if mkfs:
        line(learned.mkfs_options())
        return
    lines = None if device is None else _changes(device, learned.lists, places, write)
    if as_json:
        print_json({"version": version, **asdict(learned), "changes": lines, "written": write})
        return
    _show(learned)
    told = {} if lines is None else {"written" if write else "would write": _in_words(lines)}
    tell({**told, "version": version}, as_json)


@app.command()
@with_options
def restore(
    device: Annotated[str, typer.Argument(metavar="DEVICE", help=_HELP)],
    places: _Places,
    as_json: Json = False,
) -> None:
    """Make the lists of a device what they were before they were first written."""
    from birthmark.layout_hint.f2fs.before import Before

    lines = Before(places.before, places.kernel).take_back(device)
    if as_json:
        print_json({"changes": lines})
    else:
        tell({"written": _in_words(lines)}, as_json)


def _learn(place: Settings) -> tuple[str, Learned]:
    """Return the published version, and the lists that it makes."""
    from birthmark.layout_hint.f2fs.learned import KIND, learn
    from birthmark.predictor import TrainedModel
    from birthmark.training.registry.published import read_published
    from birthmark.training.registry.versions import Registry

    published = read_published(Registry(place.registry))
    model = TrainedModel.load(published.directory, only=KIND)
    return published.version, learn(model, published.abstaining)


def _changes(device: str, wanted: Lists, places: Places, write: bool) -> list[str]:
    """Return the lines that make a device's lists what is wanted; write them if asked to."""
    from birthmark.layout_hint.f2fs.before import Before
    from birthmark.layout_hint.f2fs.sysfs import changes, read

    if write:
        return Before(places.before, places.kernel).change(device, wanted)
    return changes(read(device, places.kernel), wanted)


def _show(learned: Learned) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("suffix", "list"):
        table.add_column(heading, no_wrap=True)
    for column in numbers("births", "as said", "share", "at least"):
        table.add_column(column.header, justify=column.justify, no_wrap=True)
    for own in learned.suffixes:
        share = f"{own.agree / own.births:.1%}"
        counts = (f"{own.births:,}", f"{own.agree:,}", share, f"{own.lower:.1%}")
        table.add_row(own.extension, own.temperature, *counts)
    show(table)
    for name, said in (("hot", learned.hot), ("cold", learned.cold)):
        line(
            f"{name}: said of {said.births:,} of {learned.births:,} births, wrongly of"
            f" {said.wrong:,}, which is at most {said.upper:.2%} of all (bound {said.bound:.2%})"
        )


def _in_words(lines: Sequence[str]) -> Any:
    """Return what is written, as the kernel takes it."""
    return list(lines) or "nothing: the lists are these"
