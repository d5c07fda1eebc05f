"""The picture `docs/imports.svg`: what imports what.

Python's folders, the packages within each, and cargo's crates, by grimp and ``cargo metadata``. An
arrow leads to what is imported, directly or by way of modules beside; those that follow from others
are left out. What imports nothing stands left, as on the road from a trace to an answer.
"""

from __future__ import annotations

import io
import json
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path

import grimp
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
ROOTS = ("birthmark", "birthmark_native")

Graph = dict[str, set[str]]
"""What each one imports."""


def modules() -> grimp.ImportGraph:
    """Return the imports of all modules, those for types alone too."""
    return grimp.build_graph(*ROOTS, cache_dir=None)


def packages(graph: grimp.ImportGraph) -> set[str]:
    """Return the modules that have others within them."""
    return {name for name in graph.modules if graph.find_children(name)}


def siblings(graph: grimp.ImportGraph, parent: str) -> Graph:
    """Return what the children of a package import of each other, with all that is within them."""
    children = graph.find_children(parent)
    owner = {each: child for child in children for each in {child, *graph.find_descendants(child)}}
    found: Graph = {child: set() for child in children}
    for name, child in owner.items():
        imported = graph.find_modules_directly_imported_by(name)
        found[child] |= {owner[each] for each in imported if each in owner} - {child}
    return found


def rooms(graph: grimp.ImportGraph) -> Graph:
    """Return what packages import of each other; a module right in a folder is one of its own."""
    inner = packages(graph)

    def room(module: str) -> str:
        package = module if module in inner else module.rpartition(".")[0]
        return module if package.count(".") < 2 else package

    found: Graph = {room(name): set() for name in graph.modules}
    for name in graph.modules:
        imported = map(room, graph.find_modules_directly_imported_by(name))
        found[room(name)] |= set(imported) - {room(name)}
    return found


def folders(graph: grimp.ImportGraph) -> Graph:
    """Return what the folders, the front door and the extension import of each other.

    The front door is whatever in ``birthmark`` is no folder of the repository's own.
    """
    front, native = ROOTS
    own = {link.name for link in (ROOT / front).iterdir() if link.is_symlink()}

    def folder(module: str) -> str:
        first, second = [*module.split("."), ""][:2]
        return second if first == front and second in own else first

    found: Graph = {name: set() for name in (*own, front, native)}
    for name in graph.modules:
        imported = map(folder, graph.find_modules_directly_imported_by(name))
        found[folder(name)] |= set(imported) - {folder(name)}
    return found


WORKSPACES = [
    folder
    for folder in (".", "storage", "layout_hint", "research")
    if (ROOT / folder / "Cargo.toml").is_file()
]
"""The folders of cargo's workspaces, each after those on whose crates its own depend."""


def members() -> list[str]:
    """Return the folders of all crates, in the order in which the workspaces list them."""
    manifests = {
        folder: tomllib.loads((ROOT / folder / "Cargo.toml").read_text()) for folder in WORKSPACES
    }
    return [
        (Path(folder) / member).as_posix()
        for folder, manifest in manifests.items()
        for member in manifest["workspace"]["members"]
    ]


def crates() -> Graph:
    """Return what the crates depend on of each other, in tests and builds too."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    found: Graph = {}
    for folder in WORKSPACES:
        done = subprocess.run(command, cwd=ROOT / folder, check=True, capture_output=True)
        for package in json.loads(done.stdout)["packages"]:
            own = {each["name"] for each in package["dependencies"] if each.get("path")}
            found[package["name"]] = own
    return found


def reached(graph: Graph, start: str) -> set[str]:
    """Return all that something imports, by way of others too; itself if it is in a circle."""
    found: set[str] = set()
    new = set(graph[start])
    while new:
        found |= new
        new = set().union(*(graph[each] for each in new)) - found
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return what imports each other in a circle, each circle once."""
    beyond = {name: reached(graph, name) for name in graph}
    found = {
        tuple(sorted(other for other in beyond[name] if name in beyond[other]))
        for name in graph
        if name in beyond[name]
    }
    return sorted(map(list, found))


def among(graph: Graph, kept: Iterable[str]) -> Graph:
    """Return what some import of each other, by way of others too, without what follows."""
    names = set(kept)
    beyond = {name: reached(graph, name) & names - {name} for name in sorted(names)}
    return {
        name: own - set().union(*(beyond[each] for each in own)) for name, own in beyond.items()
    }


def levels(graph: Graph) -> list[list[str]]:
    """Return all in columns: first what imports nothing, then what imports only of those before.

    What is imported stands right before the first that imports it, so that arrows are short.

    Raises ``ValueError`` for a graph with a circle, which has no such order.
    """
    if found := circles(graph):
        raise ValueError(f"imports in a circle: {found}")
    columns: list[list[str]] = []
    left = set(graph)
    while left:
        ready = sorted(name for name in left if not graph[name] & left)
        columns.append(ready)
        left -= set(ready)
    place = {name: x for x, column in enumerate(columns) for name in column}
    for name in sorted(place, key=lambda name: -place[name]):
        importers = [place[each] for each in graph if name in graph[each]]
        place[name] = min(importers, default=place[name] + 1) - 1
    return [sorted(name for name in place if place[name] == x) for x in range(len(columns))]


def panels() -> dict[str, Graph]:
    """Return what is drawn, by its title."""
    graph = modules()
    tops = folders(graph)
    found = {"Python": among(tops, tops)}
    inner = packages(graph)
    for parent in sorted(inner, key=lambda name: name.split(".")):
        beside = siblings(graph, parent)
        kept = beside.keys() & inner
        if parent not in ROOTS and len(kept) > 1:
            own = among(beside, kept)
            short = {name: name.removeprefix(f"{parent}.") for name in own}
            drawn = {short[name]: {short[each] for each in of} for name, of in own.items()}
            found[parent.removeprefix("birthmark.").replace(".", "/") + "/"] = drawn
    every = crates()
    return found | {"crates": among(every, every)}


def draw(axes: Axes, title: str, graph: Graph) -> None:
    """Draw one graph, a column for each level."""
    columns = levels(graph)
    most = max(map(len, columns))
    places = {
        name: (x, (most - len(column)) / 2 + y)
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }
    box = {"boxstyle": "round,pad=0.5", "facecolor": "#e8eef7", "edgecolor": "#35598f"}
    boxes = {
        name: axes.text(*place, name, ha="center", va="center", bbox=box, fontsize=9, zorder=3)
        for name, place in places.items()
    }
    arrow = {"arrowstyle": "-|>", "color": "0.45", "connectionstyle": "arc3,rad=0.12"}
    for name, own in graph.items():
        for each in sorted(own):
            ends = {"patchA": boxes[name].get_bbox_patch(), "patchB": boxes[each].get_bbox_patch()}
            axes.annotate("", places[each], places[name], arrowprops={**arrow, **ends}, zorder=1)
    axes.set(xlim=(-0.6, max(len(columns), 8) - 0.4), ylim=(most - 0.4, -0.6))
    axes.set_title(title, loc="left", fontsize=11)
    axes.axis("off")


def picture() -> str:
    """Return all panels in one picture, as SVG."""
    shown = panels()
    heights = [max(map(len, levels(graph))) + 0.7 for graph in shown.values()]
    widest = max(len(levels(graph)) for graph in shown.values())
    size = (1.45 * max(widest, 8), 0.55 * sum(heights))
    figure = Figure(size, layout="constrained", dpi=72)  # as SVG has it
    axes = figure.subplots(len(shown), squeeze=False, height_ratios=heights)[:, 0]
    for each, (title, graph) in zip(axes, shown.items(), strict=True):
        draw(each, title, graph)
    figure.draw_without_rendering()  # arrows pass behind boxes, and need to know where these are
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "birthmark"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
