"""What the pages say is there is there: links, options, keys, columns, dependencies, predicates."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from birthmark import cli
from birthmark.data.anonymize import Settings as Keep
from birthmark.predictor import BUILT_IN
from birthmark.serving.settings import Settings, variable
from birthmark.site_file import SHARED, SiteConfig
from birthmark.training.config import (
    Audit,
    Datasets,
    Followed,
    RegistryConfig,
    Traces,
    Training,
    read_config,
)
from docs.imports import members
from tests import needs
from tests.folders import FOLDERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(DOCS.glob("*.md")),
]
BLOCK = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def text(page: str) -> str:
    """Return a page of `docs`."""
    return (DOCS / page).read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """Return what links into a page may name, as code hosts make it of headings."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def rows(page: str, heading: str) -> list[str]:
    """Return the first cell of each row of the tables under a heading of the second level."""
    section = text(page).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)`", section, re.M)


def options() -> dict[str, set[str]]:
    """Return the long options of each command; those of a group are called ``GROUP COMMAND``."""
    found: dict[str, set[str]] = {}
    waiting = [(name, cli.command(name)) for name in cli.commands()]
    for name, command in waiting:
        inner = getattr(command, "commands", {})
        waiting += [(f"{name} {own}", each) for own, each in inner.items()]
        if not inner or command.invoke_without_command:
            found[name] = {
                option
                for parameter in command.params
                if not getattr(parameter, "hidden", False)
                for option in (*parameter.opts, *parameter.secondary_opts)
                if option.startswith("--")
            }
    return found


HELPER = {
    "layout.md": ["settings.rs"],
    "linux.md": ["write_life/settings.rs", "write_life/class.rs"],
}
"""Where the options of the layout hint's helper are listed, and declared."""


def helper_options(page: str) -> dict[str, tuple[str, str]]:
    """Return the variable and the default of each option of the helper that a page lists."""
    folder = ROOT / "layout_hint/hintd/src"
    source = "".join((folder / name).read_text(encoding="utf-8") for name in HELPER[page])
    found = {}
    for attributes, name in re.findall(r"#\[arg\((.*?)\)\]\s*pub (\w+):", source, re.S):
        variable = re.search(r'env = "(\w+)"', attributes)
        default = re.search(r'default_value(?:_t)? = "?([^",\s]+(?:,[^",\s]+)*)', attributes)
        option = "--" + name.replace("_", "-")
        found[option] = (variable[1] if variable else "", default[1] if default else "")
    return found


def mentioned(mention: str, known: dict[str, set[str]]) -> str:
    """Return the command that a mention is of; of a group without its command, the first in it."""
    words = mention.strip("$` ").split()[1:]
    longest = [" ".join(words[:count]) for count in range(len(words), 0, -1)]
    exact = [name for name in longest if name in known]
    within = [name for group in longest for name in known if name.startswith(f"{group} ")]
    return [*exact, *within, words[0]][0]


@needs.folder_research
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_local_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@needs.folder_research
@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", DOCS / "glossary.md"])
def test_paths_that_are_named_as_places_in_the_code_exist(page: Path) -> None:
    folders = "|".join([*FOLDERS, "birthmark", "native", "tests"])
    named = re.findall(rf"`((?:{folders})/[\w./-]*)`", page.read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_contents_of_a_page_are_its_chapters(page: Path) -> None:
    head, *chapters = BLOCK.sub("", page.read_text(encoding="utf-8")).split("\n## ")
    contents = re.findall(r"^- \[(.*)\]\(#.*\)$", head, re.M)
    assert contents in ([], [chapter.split("\n")[0] for chapter in chapters])


def test_every_page_can_be_reached_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in DOCS.glob("*.md") if f"(docs/{page.name})" not in readme]
    assert missing == []


@needs.folder_research
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_that_are_mentioned_exist(page: Path) -> None:
    known = options()
    helper = [option for page in HELPER for option in helper_options(page)]
    every = set().union(*known.values(), helper, {"--help", "--strict", "--install-completion"})
    for mention in re.findall(r"^\$ birthmark .*|`birthmark [^`]*`", page.read_text(), re.M):
        command = mentioned(mention, known)
        if command != "COMMAND":
            assert command in known, mention
            assert set(OPTION.findall(mention)) <= known[command] | {"--help"}, mention
    for mention in re.findall(r"`(--[^`]*)`", page.read_text(encoding="utf-8")):
        assert set(OPTION.findall(mention)) <= every, mention


def test_every_command_and_option_is_listed() -> None:
    table = text("administrators.md").split("## Every option")[1]
    for command, own in options().items():
        (row,) = re.findall(rf"^\| `{command}\b.*$", table, re.M)
        assert set(OPTION.findall(row.replace("--help", ""))) == own, command


def test_every_setting_of_the_service_is_listed_with_its_variable_and_default() -> None:
    for name, field in Settings.model_fields.items():
        unset = "as published" if name in ("model", "point") else "none"
        shown = unset if field.default is None else f"`{field.default}`"
        option = f"--{name.replace('_', '-')}"
        assert f"| `{option}` | `{variable(name)}` | {shown} |" in text("serving.md")


@pytest.mark.parametrize("page", HELPER)
def test_every_option_of_the_helper_is_listed_with_its_variable_and_default(page: str) -> None:
    found = helper_options(page)
    assert len(found) > 10
    for option, (setting, default) in found.items():
        shown = [f"`{value}`" if value else "" for value in (option, setting, default)]
        row = "| " + " | ".join(shown).replace("|  |", "| |")
        assert row in text(page), row


def test_the_example_configuration_has_every_key_and_shows_the_defaults(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", text("administrators.md"), re.S)
    assert example is not None
    (tmp_path / "birthmark.toml").write_text(example[1], encoding="utf-8")
    read_config(tmp_path / "birthmark.toml", SiteConfig)
    table = tomllib.loads(example[1])
    assert set(table) == set(SiteConfig.model_fields)
    for section, kind in (
        ("traces", Traces),
        ("training", Training),
        ("datasets", Datasets),
        ("registry", RegistryConfig),
        ("audit", Audit),
        ("follow", Followed),
        ("serve", Settings),
    ):
        fields = kind.model_fields
        text_of = re.split(r"^\[", example[1].partition(f"[{section}]")[2], flags=re.M)[0]
        unset = set(re.findall(r"^# (\w+) = ", text_of, re.M))
        assert set(table[section]) | unset == set(fields)
        shared = {name for owner, name in SHARED if owner == section}
        assert all(fields[key].default is None for key in unset - shared)
        for key, value in table[section].items():
            must_be_said = fields[key].is_required() or (section, key) == ("traces", "files")
            assert must_be_said or fields[key].default == value, key
    for key in SiteConfig.model_fields["engine"].annotation.model_fields:  # type: ignore[union-attr]
        assert re.search(rf"^(# )?{key} = ", example[1].partition("[engine]")[2], re.M), key
    bounds = [f"{what}_{side}" for what in ("size", "lifespan") for side in ("above", "at_most")]
    for key in ("name", "subject", "description", *bounds, "expression", "function"):
        assert re.search(rf"^(# )?{key} = ", example[1], re.M), key


def test_the_example_of_what_stays_shows_the_defaults() -> None:
    example = re.search(r"```toml\n(.*?)```", text("researchers.md"), re.S)
    assert example is not None
    table = tomllib.loads(example[1])
    assert set(table) == set(Keep.model_fields)
    assert Keep.model_validate(table) == Keep()


def test_every_predicate_is_defined() -> None:
    row = r"^\| `([^`]+)` \| (file(?:, name)?|directory) \|"
    of = dict(re.findall(row, text("researchers.md"), re.M))
    names = [predicate.name for predicate in BUILT_IN.values() if predicate.subject == "name"]
    assert list(of) == [each.name for each in BUILT_IN.values() if each.subject != "name"]
    assert [name for name, subjects in of.items() if "name" in subjects] == names


def test_every_reason_for_setting_a_record_aside_is_listed() -> None:
    listed = re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", text("administrators.md"))
    source = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "native/trace/src").glob("*/*.rs")
    )
    words = r'\(\s*"((?:bad|cut|funny|nfs|no|not|too|trailing|unknown|zero)(?:-[a-z0-9]+)+)"'
    reasons = set(re.findall(words, source))
    assert len(reasons) > 20
    assert reasons <= set(listed)


def direct(requirements: list[str]) -> list[str]:
    """Return the names in requirements, in order."""
    return sorted(re.split(r"[<>=\[ ]", name)[0] for name in requirements)


def crates_of(member: str) -> list[str]:
    """Return the crates of other projects that a crate of the workspace names, in order."""
    manifest = tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8"))
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    named = {crate for kind in kinds for crate in manifest.get(kind, {})}
    return sorted(crate for crate in named if not crate.startswith("birthmark-"))


def test_exactly_the_direct_dependencies_are_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]
    python = [
        *project["dependencies"],
        *extra["bench"],
        *extra["build"],
        *extra["dask"],
        *extra["dev"],
    ]
    crates = {
        crate
        for member in members()
        if member not in ("layout_hint/hintd", "native/tap")
        for crate in crates_of(member)
    }
    assert sorted(rows("dependencies.md", "Python")) == direct(python)
    assert sorted(rows("dependencies.md", "Rust")) == sorted(crates)
    assert sorted(rows("dependencies.md", "The helper")) == crates_of("layout_hint/hintd")
    assert sorted(rows("dependencies.md", "The tap")) == crates_of("native/tap")


def test_what_the_packages_import_is_what_the_project_depends_on() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    own = {"birthmark", "birthmark_native"}
    links = [path for path in (ROOT / "birthmark").iterdir() if path.is_dir()]
    folders = [ROOT / "birthmark", ROOT / "birthmark_native", *links]
    imported = set()
    for module in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            imported |= {name.split(".")[0] for name in names}
    asked = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["dask"],
    ]
    needed = {name.replace("-", "_") for name in direct(asked)}
    needed = needed - {"scikit_learn"} | {"sklearn"}
    assert imported - own - sys.stdlib_module_names == needed
