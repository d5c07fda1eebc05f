"""``birthmark layout f2fs``: F2FS's lists of suffixes, from the published model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from birthmark.layout_hint.settings import Places
from birthmark.options import Options, with_options
from birthmark.outputs import Json, print_json, print_result
from birthmark.serving.settings import Settings, variable
from birthmark.terminal import line, numbers, show

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.layout_hint.f2fs.extensions import Lists
    from birthmark.layout_hint.f2fs.learned import Learned

app = typer.Typer(no_args_is_help=True, help="Manage F2FS's lists of hot and cold suffixes.")

_Registry = Annotated[Settings, Options(("registry",), variable=variable)]
_Places = Annotated[Places, Options()]
_HELP = "device of a mounted F2FS, as sda1"


@app.command()
@with_options
def lists(
    place: _Registry,
    places: _Places,
    device: Annotated[str | None, typer.Argument(metavar="[DEVICE]", help=_HELP)] = None,
    write: Annotated[bool, typer.Option("--write", help="write the lists to the device")] = False,
    mkfs: Annotated[
        bool, typer.Option("--mkfs", help="print only the options of mkfs.f2fs for them")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print hot and cold suffixes, evidence, and changes to a device."""
    if write and device is None:
        raise typer.BadParameter("expected a DEVICE with it", param_hint="--write")
    version, learned = _learn(place, device, places)
    if mkfs:
        line(learned.mkfs_options())
        return
    lines = None if device is None else _changes(device, learned.lists, places, write)
    if as_json:
        print_json({"version": version, **asdict(learned), "changes": lines, "written": write})
        return
    _show(learned)
    changed = {} if lines is None else {"written" if write else "would write": _in_words(lines)}
    print_result({**changed, "version": version}, as_json)


@app.command()
@with_options
def restore(
    device: Annotated[str, typer.Argument(metavar="DEVICE", help=_HELP)],
    places: _Places,
    as_json: Json = False,
) -> None:
    """Restore the lists that a device had before the first write."""
    from birthmark.layout_hint.f2fs.before import Before

    lines = Before(places.before, places.kernel).take_back(device)
    if as_json:
        print_json({"changes": lines})
    else:
        print_result({"written": _in_words(lines)}, as_json)


def _learn(place: Settings, device: str | None, places: Places) -> tuple[str, Learned]:
    """Return the published version, and its lists for a device."""
    from birthmark.layout_hint.f2fs.learned import KIND, learn
    from birthmark.layout_hint.f2fs.sysfs import small_is_hot
    from birthmark.predictor import TrainedModel
    from birthmark.training.registry.published import read_published
    from birthmark.training.registry.versions import Registry

    published = read_published(Registry(place.registry))
    model = TrainedModel.load(published.directory, only=KIND)
    hot = device is not None and not small_is_hot(device, places.kernel)
    return published.version, learn(model, published.abstaining, hot)


def _changes(device: str, wanted: Lists, places: Places, write: bool) -> list[str]:
    """Return the lines that change a device's lists; write them if ``write``."""
    from birthmark.layout_hint.f2fs.before import Before
    from birthmark.layout_hint.f2fs.sysfs import changes, read

    if write:
        return Before(places.before, places.kernel).change(device, wanted)
    return changes(read(device, places.kernel), wanted)


def _show(learned: Learned) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("suffix", "list"):
        table.add_column(heading, no_wrap=True)
    for column in numbers("births", "agree", "share", "at least"):
        table.add_column(column.header, justify=column.justify, no_wrap=True)
    for own in learned.suffixes:
        share = f"{own.agree / own.births:.1%}"
        counts = (f"{own.births:,}", f"{own.agree:,}", share, f"{own.lower:.1%}")
        table.add_row(own.extension, own.temperature, *counts)
    show(table)
    for name, wrong, found in (
        ("hot", "live longer", learned.hot),
        ("cold", "are written over", learned.cold),
    ):
        if found.births:
            line(
                f"{name}: {found.births:,} of {learned.births:,} births;"
                f" {found.wrong:,} of them {wrong}: at most {found.upper:.2%} of all"
                f" (bound {found.bound:.2%})"
            )


def _in_words(lines: Sequence[str]) -> Any:
    """Return the lines written, in the kernel's format."""
    return list(lines) or "nothing: the lists are up to date"
