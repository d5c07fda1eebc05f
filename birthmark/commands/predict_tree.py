"""``birthmark predict --explain``: the evidence of a model's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.tree import Tree

from birthmark.terminal import line, show, styled

if TYPE_CHECKING:  # the other commands do without them, and start sooner
    from birthmark.serving.messages.responses import Answer, Explanation, ListExplained


def draw(response: ListExplained, names: list[str]) -> None:
    """Print a tree for each file: its answers, their probabilities and evidence."""
    for name, prediction in zip(names, response["predictions"], strict=True):
        show(_tree(name, prediction))
    line(f"model {response['model']}, {response['kind']}, {response['point']}")


def _tree(name: str, prediction: Explanation) -> Tree:
    from birthmark.serving.answers.evidence import STYLES, in_percent, why

    tree = Tree(styled(name, "bold"))
    for sentence in prediction["unseen"]:
        tree.add(styled(sentence, "yellow"))
    predicates, answers = prediction["predicates"], prediction["answers"]
    likely = {key: in_percent(share) for key, share in prediction["probabilities"].items()}
    for predicate, answer in answers.items():
        if answer == "yes":
            branch = tree.add(styled(f"{predicate}: yes, {likely[predicate]}", STYLES["yes"]))
            branch.add(_because(predicate, why(predicate, prediction)))
            if predicate not in prediction["implied"]:
                branch.add(_admitted(predicates[predicate]))
    for word in ("no", "unsure"):
        own = [f"{key} {likely[key]}" for key, answer in answers.items() if answer == word]
        if own:
            tree.add(styled(f"{word}: {', '.join(own)}", STYLES[word]))
    return tree


def _because(predicate: str, why: str) -> str:
    """Return a yes and its evidence in one sentence."""
    from birthmark.predictor.predicates.builtin import outcome

    words = outcome(predicate)
    return (
        why if words is None else f"{words}, {why}" if why.startswith("as ") else f"{words}: {why}"
    )


def _admitted(answer: Answer) -> str:
    """Return the score, its threshold, and the bound on false positives."""
    score = f"score {answer['score']:.3f}, yes from {answer['threshold']:.3g}"
    if answer["upper"] is None:
        return f"{score}, without a bound"
    return f"{score}: wrong for at most {answer['upper']:.2%} of all files"
