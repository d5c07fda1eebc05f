"""``birthmark models rules``: the rules of the published model."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from birthmark.commands.predict import Published
from birthmark.data.common.plurals import counted
from birthmark.options import Options, with_options
from birthmark.serving.settings import Listing
from birthmark.terminal import numbers, show, styled, table, words


@with_options
def rules(
    published: Published,
    listing: Annotated[Listing, Options()],
    predicate: Annotated[
        str | None, typer.Option(help="list only rules about this predicate")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all rules as a JSON list")] = False,
) -> None:
    """List the published model's rules by error reduction."""
    from birthmark.data.common.choices import expect
    from birthmark.serving.models.loaded import load_model
    from birthmark.training.registry.versions import Registry

    loaded = load_model(Registry(published.registry), published.model, published.point, counts=True)
    every = loaded.trained.rules(loaded.kind, loaded.point)
    found = every.to_pylist() if as_json else loaded.trained.by_error_reduction(every)
    if predicate is not None:
        expect("predicate", predicate, loaded.answerer.predicates)
        found = [rule for rule in found if rule["predicate"] == predicate]
    if as_json:
        typer.echo(json.dumps(found, indent=1))
    else:
        shown = found[: listing.top]
        of_all = f"{len(shown)} of {counted(len(found), 'rules')}"
        _list(shown, f"{of_all}, model {loaded.version}")


def _list(rules: list[dict[str, Any]], caption: str) -> None:
    headings = numbers("decides", "n_M", "n_A")
    listed = table("predicate", *words("rule"), "answer", *headings, caption=caption)
    for rule in rules:
        answer = styled("yes", "green") if rule["yes"] else styled("no", "red")
        counts = (f"{rule[n]:,.0f}" for n in ("decides", "n_m", "n_a"))
        listed.add_row(rule["predicate"], rule["rule"], answer, *counts)
    show(listed)
