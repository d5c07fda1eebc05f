"""``birthmark explain`` and ``birthmark rules``: why a model answers as it does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.tree import Tree

from birthmark.commands.serve import Published, files_of
from birthmark.data.common.plurals import counted
from birthmark.options import Options, with_options
from birthmark.outputs import Json
from birthmark.serving.settings import Listing
from birthmark.terminal import line, numbers, show, styled, table, words

if TYPE_CHECKING:  # the other commands do without them, and start sooner
    from birthmark.serving.messages.responses import Answer, Explanation, ListExplained


@with_options
def explain(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="names of new files")],
    wanted: Published,
    mode: Annotated[str | None, typer.Option(help="permission bits, octal, as 0644")] = None,
    uid: Annotated[int | None, typer.Option(help="numeric id of the user who creates them")] = None,
    gid: Annotated[int | None, typer.Option(help="numeric id of that user's group")] = None,
    directory: Annotated[
        str | None, typer.Option(help="name of their directory, without its path")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell of new files what they will become, how likely, and why: the evidence of each yes."""
    from birthmark.serving.answers.json_answers import explain_list
    from birthmark.serving.models.published import load_model
    from birthmark.training.registry.versions import Registry

    files = files_of(*names, directory=directory, mode=mode, uid=uid, gid=gid)
    loaded = load_model(Registry(wanted.registry), wanted.model, wanted.point)
    response = explain_list(loaded, files)
    if as_json:
        typer.echo(json.dumps(response, indent=2))
    else:
        _draw(response, names)


def _draw(response: ListExplained, names: list[str]) -> None:
    for name, prediction in zip(names, response["predictions"], strict=True):
        show(_tree(name, prediction))
    line(f"model {response['model']}, {response['kind']}, {response['point']}")


def _tree(name: str, prediction: Explanation) -> Tree:
    from birthmark.serving.answers.evidence import STYLES, in_percent, in_words

    tree = Tree(styled(name, "bold"))
    predicates, answers = prediction["predicates"], prediction["answers"]
    likely = {key: in_percent(share) for key, share in prediction["probabilities"].items()}
    for predicate, said in answers.items():
        if said == "yes":
            branch = tree.add(styled(f"{predicate}: yes, {likely[predicate]}", STYLES["yes"]))
            branch.add(in_words(predicates[predicate]))
            branch.add(_admitted(predicates[predicate]))
    for word in ("no", "unsure"):
        own = [f"{key} {likely[key]}" for key, said in answers.items() if said == word]
        if own:
            tree.add(styled(f"{word}: {', '.join(own)}", STYLES[word]))
    return tree


def _admitted(answer: Answer) -> str:
    """Return what the threshold was, and the limit of false positives that admitted it."""
    if answer["answer"] == "no":
        return "it follows from the others"
    score = f"score {answer['score']:.3f}, yes from {answer['threshold']:.3g}"
    if answer["upper"] is None:
        return f"{score}, without a bound"
    return f"{score}: wrong for at most {answer['upper']:.2%} of all files"


@with_options
def rules(
    wanted: Published,
    listing: Annotated[Listing, Options()],
    predicate: Annotated[
        str | None, typer.Option(help="list only rules about this predicate")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all rules as a JSON list")] = False,
) -> None:
    """List the rules of the published model, those first that spare a guess most errors."""
    from birthmark.data.common.choices import expect
    from birthmark.serving.models.published import load_model
    from birthmark.training.registry.versions import Registry

    loaded = load_model(Registry(wanted.registry), wanted.model, wanted.point, counts=True)
    every = loaded.trained.rules(loaded.kind, loaded.point)
    found = every.to_pylist() if as_json else loaded.trained.most_telling(every)
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
