"""The folders import only from the stops before them on the road from trace to answer.

Nothing imports itself by way of another folder, package or crate.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from grimp import ImportGraph

from docs.imports import circles, crates, folders, members, modules, packages, rooms, siblings
from tests.folders import FOLDERS, RESEARCH

ROOT = Path(__file__).resolve().parents[1]

ANNEXES = FOLDERS[FOLDERS.index("layout_hint") :]
"""The folders whose commands the command line finds by entry points."""

COMMAND_LINE = {"exits", "groups", "options", "outputs", "plugins", "terminal"}
"""The modules of ``birthmark`` that the commands of annexes are made with."""


def imported(path: Path) -> set[str]:
    """What a module imports of the project: a folder, a module of the front door, the extension."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    parts = [name.split(".") for name in found if name.split(".")[0].startswith("birthmark")]
    return {".".join(part[:2]) if part[0] == "birthmark" else part[0] for part in parts}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_only_from_the_stops_before_it(folder: str) -> None:
    before = {f"birthmark.{stop}" for stop in FOLDERS[: FOLDERS.index(folder) + 1]}
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules
    for path in modules:
        helpers = COMMAND_LINE if path.parts[-3:-1] == (folder, "commands") else set()
        allowed = before | {f"birthmark.{name}" for name in helpers if folder in ANNEXES}
        assert imported(path) <= allowed | {"birthmark_native"}, path


def core() -> list[Path]:
    """Return the modules of the command line that are in no folder."""
    places = ["", "commands", "doctor", "install"]
    return sorted(path for place in places for path in (ROOT / "birthmark" / place).glob("*.py"))


def test_the_core_imports_no_annex() -> None:
    for path in core():
        assert not imported(path) & {f"birthmark.{annex}" for annex in ANNEXES}, path


def test_the_core_names_no_command_of_an_annex() -> None:
    manifest = tomllib.loads((ROOT / "pyproject.toml").read_text())
    commands = manifest["project"]["entry-points"]["birthmark.commands"]
    assert len(commands) == len(ANNEXES)
    for path in core():
        tree = ast.walk(ast.parse(path.read_text()))
        strings = [node.value for node in tree if isinstance(node, ast.Constant)]
        words = {word for text in strings for word in re.findall(r"[\w-]+", str(text))}
        assert not words & {*commands, *ANNEXES}, path


def test_the_extension_imports_nothing_of_the_project() -> None:
    modules = sorted((ROOT / "birthmark_native").glob("*.py*"))
    assert {path.name for path in modules} >= {"__init__.py", "_native.pyi"}
    for path in modules:
        assert imported(path) <= {"birthmark_native"}, path


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_is_a_package_of_birthmark(folder: str) -> None:
    link = ROOT / "birthmark" / folder
    assert link.is_symlink()
    assert link.resolve() == ROOT / folder


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    return modules()


def crossing(graph: ImportGraph, folder: str) -> list[list[str]]:
    """Return the circles of imports within a folder that cross a package.

    Of rooms (packages, and modules that lie right in the folder), and of whole packages with all
    that is within them.
    """
    inner = packages(graph)
    inside = f"birthmark.{folder}."
    own = [each for each in inner if f"{each}.".startswith(inside)]
    found = [*circles(rooms(graph)), *(c for each in own for c in circles(siblings(graph, each)))]
    return [circle for circle in found if circle[0].startswith(inside) and inner & {*circle}]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_circle_of_imports_crosses_a_package(graph: ImportGraph, folder: str) -> None:
    assert crossing(graph, folder) == []


def test_no_circle_of_imports_crosses_a_folder(graph: ImportGraph) -> None:
    assert circles(folders(graph)) == []


def test_all_packages_are_looked_at(graph: ImportGraph) -> None:
    assert packages(graph) >= {"birthmark.data.scan", "birthmark.serving.page", "birthmark_native"}
    assert rooms(graph).keys() >= {"birthmark.data.scan", "birthmark.data.schema"}


def test_no_module_imports_itself(graph: ImportGraph) -> None:
    assert [
        each
        for each in sorted(graph.modules)
        if graph.direct_import_exists(importer=each, imported=each)
    ] == []


def test_no_circle_of_dependencies_crosses_a_crate() -> None:
    found = crates()
    assert "birthmark-hintd" in found
    assert circles(found) == []


def test_a_crate_depends_only_on_crates_before_it_in_the_list() -> None:
    dependencies = crates()
    before: set[str] = set()
    for folder in members():
        manifest = tomllib.loads((ROOT / folder / "Cargo.toml").read_text())
        name = manifest["package"]["name"]
        assert dependencies[name] <= before, folder
        before.add(name)
    assert before == dependencies.keys()


def test_the_architecture_page_lists_the_crates_in_the_same_order() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    chapter = page.split("\n## Crates\n")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(.+?)` \|", chapter, re.MULTILINE)
    if RESEARCH not in FOLDERS:
        listed = [crate for crate in listed if not crate.startswith(f"{RESEARCH}/")]
    assert listed == members()


UNSAFE = {
    "layout_hint/hook": "layout_hint/hook/src/",
    "native/live": "native/live/src/mapping.rs",
    "native/service": "native/service/src/descriptor.rs",
    "native/clib": "native/clib/src/lib.rs",
}
"""The crates that may do what no compiler can check, and where in them; it says why it is sound."""


def test_unsafe_code_is_in_few_places_and_forbidden_in_all_other_crates() -> None:
    for crate in members():
        lints = tomllib.loads((ROOT / crate / "Cargo.toml").read_text())["lints"]
        assert ("workspace" in lints) == (crate not in UNSAFE) or crate == "native/fuzz"
        for source in (ROOT / crate).rglob("*.rs"):
            path = str(source.relative_to(ROOT))
            if re.search(r"\bunsafe\b *(\{|fn|impl|extern)", source.read_text()):
                assert path.startswith(UNSAFE.get(crate, "nowhere")), path


def test_a_circle_is_found_by_way_of_others_and_reported_once() -> None:
    chain: dict[str, set[str]] = {"a": {"b"}, "b": {"c"}, "c": set()}
    assert circles(chain) == []
    assert circles(chain | {"c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
