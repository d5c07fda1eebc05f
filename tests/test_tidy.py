"""The house's habits that a program can check: words, dead code, long functions, titles."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = frozenset(
    [".c", ".css", ".go", ".h", ".html", ".j2", ".js", ".md", ".py", ".pyi", ".rs", ".toml", ".yml"]
)
MOST_LINES = 60
"""The longest that a function may be."""

REPLACEMENTS = {
    "anew": "again, or the verb with re-",
    "bell": "notification",
    "bent": "sigmoid",
    "forgotten": "evicted, masked or no longer counted",
    "glimpse": "peek",
    "lesson": "training set",
    "lets in": "admits",
    "lobby": "acceptor, or queue of connections",
    "nought": "zero",
    "obey": "apply",
    "porter": "accept loop",
    "rope": "notification",
    "so little": "how little it is",
    "so much": "how much it is",
    "spared": "fewer errors, or error reduction",
    "told": "history scope, given, stated or reported",
    "untold": "masked, or unknown",
    "what is asked": "the request",
    "whereof": "of which, or two sentences",
    "who asks": "the client, or the caller",
    "worlds": "assignments",
}
"""Words that the house does not use, and what stands in their place."""

ON_THE_WIRE = re.compile(
    r"birthmark_told(?:_total)?|birthmark_live_told|BirthmarkNotTold|cannot be told"
    r"|[\"'`\\]+(?:told|untold|worlds|forgotten)\\*[\"'`:]|`[\w.]*TOLD\w*\**`"
    r"|(?:\brow|\bfound|\))\.told\b|\btold(?:=|: HistoryScope|: str)"
)
"""Members, columns, metrics and keys that other programs read, and attributes of their names."""

_WORDS = re.compile(
    r"(?i)(?<![a-z])(" + "|".join(map(re.escape, REPLACEMENTS)) + r")(?![a-z])"
    r"|[,;:] (of which)(?! [\d{%(])\b"
)


def words(text: str) -> Iterator[str]:
    """Yield the words in a text that the house does not use, in small letters."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", ON_THE_WIRE.sub(" ", text))
    for found in _WORDS.finditer(spaced):
        yield (found[1] or found[2]).lower()


@cache
def tracked() -> tuple[Path, ...]:
    """Return the files of the repository, without links."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    paths = (ROOT / name.decode() for name in listed.stdout.split(b"\0") if name)
    return tuple(path for path in paths if path.is_file() and not path.is_symlink())


def texts(*suffixes: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of these kinds with their text, but this one."""
    for path in tracked():
        if path.suffix in suffixes and path != Path(__file__):
            yield path.relative_to(ROOT), path.read_text()


def test_words_that_the_house_does_not_use() -> None:
    found = [
        f"{path}:{number}: {word!r}; write {REPLACEMENTS.get(word, 'two sentences')}"
        for path, text in texts(*TEXT)
        if any(words(text))
        for number, line in enumerate(text.splitlines(), 1)
        for word in words(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it is told", ["told"]),
        ("fn count_told(&self)", ["told"]),
        ("class ByTold:", ["told"]),
        ('row["told"], birthmark_told_total', []),
        ("retold bellows", []),
        ("files, of which some are gone", ["of which"]),
        ("the time of which it speaks", []),
    ],
)
def test_a_word_is_found_as_a_part_of_a_name_but_not_of_a_word(
    text: str, expected: list[str]
) -> None:
    assert list(words(text)) == expected


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield all functions of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def rust_functions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of a formatted file of Rust by name, and how many lines each has."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if found := _RUST_FUNCTION.match(line):
            ends = (f"{found[1]}}}", f"{found[1]};")
            body = range(start, start if line.endswith(("}", ";")) else len(lines))
            yield found[2], next((n for n in body if lines[n].startswith(ends)), start) - start + 1


_RUST_FUNCTION = re.compile(r"( *)(?:pub(?:\([a-z]+\))? )?(?:const |unsafe |async )*fn (\w+)")


def long_functions() -> Iterator[str]:
    """Yield the functions of more than ``MOST_LINES`` lines."""
    for path, text in texts(".py"):
        for node in functions(ast.parse(text)):
            if (lines := (node.end_lineno or 0) - node.lineno + 1) > MOST_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {lines} lines"
    for path, text in texts(".rs"):
        if "tests" in path.parts or path.stem == "tests":
            continue  # tables of cases
        yield from (
            f"{path}: {name} has {lines} lines"
            for name, lines in rust_functions(text)
            if lines > MOST_LINES
        )


def test_no_function_is_longer_than_a_screen() -> None:
    assert list(long_functions()) == []


def test_the_length_of_a_function_of_rust_is_found() -> None:
    source = "impl A {\n    pub fn a(\n    ) {\n        b\n    }\n    fn c() {}\n}\n"
    assert list(rust_functions(source)) == [("a", 4), ("c", 1)]


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module mentions, in strings, too, where they may be annotations."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.split(".")[-1]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value) if len(node.value) < 200 else ()


def dead(sources: Mapping[str, str]) -> Iterator[str]:
    """Yield the private functions and classes, by module, that no module mentions."""
    trees = {path: ast.parse(source) for path, source in sources.items()}
    mentioned = {name for tree in trees.values() for name in names_in(tree)}
    for path, tree in trees.items():
        if 'getattr(self, f"_' in sources[path]:
            continue  # it calls its methods by name
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            private = node.name.startswith("_") and not node.name.startswith("__")
            if private and node.name not in mentioned and not node.decorator_list:
                yield f"{path}:{node.lineno}: nothing uses {node.name}"


def test_no_private_function_is_dead() -> None:
    assert list(dead({str(path): text for path, text in texts(".py")})) == []


def test_a_private_function_that_nothing_uses_is_found() -> None:
    source = "def _used(): ...\ndef _dead(): ...\n_used()"
    assert list(dead({"a.py": source})) == ["a.py:2: nothing uses _dead"]


def test_a_page_has_one_title() -> None:
    for path, text in texts(".md"):
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1, path


def test_every_module_is_used() -> None:
    imported = {
        name
        for _, text in texts(".py", ".pyi", ".toml")
        for name in re.findall(r"[\w.]+", text)
        for name in (name, name.rpartition(".")[2])
    }
    alone = [
        path
        for path, text in texts(".py")
        if path.parts[0] not in ("tests", "benchmarks", "docs")
        if path.stem not in imported and "__main__" not in text and not path.stem.startswith("__")
    ]
    assert alone == []
