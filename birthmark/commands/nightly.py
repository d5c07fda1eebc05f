"""``birthmark nightly``: the run of each night."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.exits import BUSY, MISCONFIGURED, REFUSED, exits, warn
from birthmark.options import ConfigFile
from birthmark.outputs import Json, print_result
from birthmark.plugins import Loaded, load
from birthmark.terminal import working

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.training.config import Config


def nightly(
    config: ConfigFile,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only print what would be ingested and removed")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ingest new traces, test the model, train its successor."""
    if dry_run:
        _rehearse(config, as_json)
        return
    from birthmark.data.common.durable import LockedError
    from birthmark.site_file import SiteConfig
    from birthmark.training.config import ConfigError, read_config
    from birthmark.training.nightly.run import nightly as run

    with (
        exits(MISCONFIGURED, ConfigError),
        exits(BUSY, LockedError),
        working("looking for traces") as step,
    ):
        settings = read_config(config, SiteConfig)
        plugins = load("birthmark.nightly", FunctionType)
        night = run(settings, step, advise=_advise(settings, plugins))
        night.warnings += _missing(settings, plugins)
    result = night.to_json()
    if not as_json:
        warn(result.pop("warnings"))
        result |= {
            "waiting": len(night.waiting) or None,
            "refused": list(night.refused.values()),
            "set_aside": [f"{count:,} {reason}" for reason, count in night.set_aside.items()],
            "left_out": [f"{name}: {reason}" for name, reason in night.left_out.items()],
            "breaches": [f"{key}: {reason}" for key, reason in night.breaches.items()],
            "decision": night.decision and night.decision.reason,
        }
    print_result(result, as_json)
    if night.refused:
        sys.exit(REFUSED)


def _advise(settings: Config, plugins: Loaded) -> Callable[[Path], Sequence[str]]:
    """Return the advice of installed packages about a dataset, in sentences."""

    def advise(dataset: Path) -> Sequence[str]:
        given = (advice(settings, dataset) for advice in plugins.objects.values())
        return [sentence for sentences in given for sentence in sentences]

    return advise


def _missing(settings: Config, plugins: Loaded) -> Iterator[str]:
    """Yield why advice is missing."""
    if settings.day_page.what_if is not None and not plugins.objects:
        yield f"{settings.day_page.what_if}: no installed package compares variants"
    yield from plugins.errors.values()


def _rehearse(config: Path, as_json: bool) -> None:
    from birthmark.site_file import SiteConfig
    from birthmark.training.config import ConfigError, read_config
    from birthmark.training.nightly.rehearsal import rehearse

    with exits(MISCONFIGURED, ConfigError):
        found = rehearse(read_config(config, SiteConfig))
    summary = found.to_json()
    if not as_json:
        summary |= {"waiting": len(found.waiting) or None, "refused": list(found.refused.values())}
    print_result(summary, as_json)
