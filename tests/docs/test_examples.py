"""The examples in the pages run, and print what the pages show.

The rules that a page is written by are in CONTRIBUTING.md, "Examples in the pages".
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests import crates, needs
from tests.waiting import reserved_port

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))

BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>.+?) -->\n\n?)?```(?P<language>\w+)\n(?P<body>.*?)^```$", re.M | re.S
)
VERSION = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
NOT_RUN = {
    "CONTRIBUTING.md": 1,  # make
    "README.md": 3,  # make; packages; tcpdump
    "administrators.md": 8,  # tcpdump four times; TLS; installation; systemd; cron
    "engineers.md": 6,  # after a format, a member, a kind or an allocator was added; commits twice
    "layout.md": 12,  # the device in user space; on FreeBSD seven times; the helper; three services
    "linux.md": 6,  # a real F2FS twice; a configuration; the measurement; the helper; systemd
    "models.md": 1,  # a bucket
    "serving.md": 2,  # a server's traffic; two hosts
    "researchers.md": 3,  # the Harvard traces; a live capture; an environment
    "top.md": 3,  # tcpdump and the tap
    "operations.md": 3,  # parts of a configuration twice; an upgrade
    "scale.md": 4,  # parts of a configuration; several machines twice
}
"""How many blocks of each page are marked as not run. Each says why, in its mark."""

RUN = ("console", "python", "text")
SAVED = ("c", "diff", "rust", "toml")
"""The languages of blocks that are run or compared, and of those that are saved as files."""


PROGRAMS = {"curl": "curl", "go": "golang-go", "pkg-config": "pkg-config"}
"""Programs that readers are expected to have or can do without, with Debian's packages."""


@dataclass(frozen=True)
class Block:
    """A fenced block, and the mark above it: `not run: WHY`, `file: NAME` or `exits: CODE`."""

    place: str
    language: str
    body: str
    mark: str
    follows: bool
    """Whether nothing stands between it and the block before."""

    def marked(self, kind: str) -> str | None:
        """Return what its mark says, if that is of a kind."""
        head, _, rest = self.mark.partition(": ")
        return rest if head == kind else None


def blocks(page: Path) -> list[Block]:
    """Return the page's fenced blocks, in order."""
    text, found, end = page.read_text(encoding="utf-8"), [], 0
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        follows = not text[end : match.start()].strip()
        end = match.end()
        mark = match["mark"] or ""
        found.append(Block(f"{page.name}:{line}", match["language"], match["body"], mark, follows))
    return found


def commands(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console block with the lines that are shown as its output."""
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        lines = part.splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: last + 1]), lines[last + 1 :]


@dataclass
class Session:
    """A reader who follows a page from its beginning, in one directory."""

    directory: Path
    port: str
    servers: list[subprocess.Popen[str]] = field(default_factory=list)
    sources: Path = ROOT
    versions: dict[str, str] = field(default_factory=dict)
    """The names that versions have here, by those that the page shows."""

    def follow(self, page: Path) -> None:
        """Do all that the page says; skip the test where a program that it needs is missing."""
        every = blocks(page)
        commands = [each.body for each in every if each.language == "console"]
        for program, package in PROGRAMS.items():
            if any(re.search(rf"\b{program} ", body) for body in commands):
                needs.program(program, package)
        self.do(every)

    def do(self, every: list[Block]) -> None:
        """Do what blocks say, one after the other."""
        namespace: dict[str, object] = {"__name__": "example"}
        printed = ""
        try:
            for block in every:
                if name := block.marked("file"):
                    (self.directory / name).parent.mkdir(exist_ok=True)
                    (self.directory / name).write_text(block.body, encoding="utf-8")
                elif block.marked("not run"):
                    continue
                elif block.language == "console":
                    self.console(block)
                elif block.language == "python":
                    printed = run_python(block, namespace)
                elif block.language == "text" and block.follows and printed:
                    self.compare(block.body.splitlines(), printed, block.place)
        finally:
            for server in self.servers:
                server.terminate()
                assert server.wait(20) == 0
                assert server.stdout is not None
                server.stdout.close()

    def console(self, block: Block) -> None:
        """Run a block's commands; the last exits as its mark says, all others with 0."""
        every = list(commands(block.body))
        codes = [0] * (len(every) - 1) + [int(block.marked("exits") or 0)]
        for (command, shown), code in zip(every, codes, strict=True):
            command = VERSION.sub(lambda v: self.versions.get(v[0], v[0]), command)
            command = command.replace(":8325", f":{self.port}")
            if command.startswith("birthmark serve"):
                output = self.serve(command)
            else:
                done = self.start(command)
                output = done.communicate(timeout=900)[0]
                assert done.returncode == code, f"{block.place}: {command}\n{output}"
            self.compare(shown, output, f"{block.place}: {command}")

    def start(self, command: str, stderr: int = subprocess.STDOUT) -> subprocess.Popen[str]:
        """Start a command as a shell would, on a terminal 80 columns wide."""
        own = Path(sys.executable).parent if self.sources == ROOT else self.sources / ".venv/bin"
        path = f"{own}:{os.environ['PATH']}"
        sources = {"BIRTHMARK": str(self.sources), "LIB_PROFILE": "dev"}
        # Go 1.19 keeps in its cache what pkg-config said in an earlier folder.
        sources["CGO_LDFLAGS"] = f"-L{self.directory}/local/lib"
        return subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.directory,
            env={
                **os.environ,
                **sources,
                "PATH": path,
                "COLUMNS": "80",
                "BIRTHMARK_PORT": self.port,
            },
            text=True,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    def serve(self, command: str) -> str:
        """Start a service that runs to the page's end; return what it says first."""
        server = self.start(f"exec {command}", stderr=subprocess.DEVNULL)
        self.servers.append(server)
        assert server.stdout is not None
        return server.stdout.readline()

    def compare(self, shown: list[str], output: str, place: str) -> None:
        """Hold the lines that a page shows to what was printed.

        `…` stands for anything in a line, and alone for any lines; a version is one of the same
        name everywhere in the page. Where a page shows nothing, nothing is compared.
        """
        lines = [line.rstrip() for line in output.replace(f":{self.port}", ":8325").splitlines()]
        at, anywhere = 0, not shown
        for wanted in shown:
            if wanted.strip() == "…":
                anywhere = True
                continue
            pattern = self.pattern(wanted.rstrip())
            candidates = range(at, len(lines)) if anywhere else range(at, min(at + 1, len(lines)))
            found = next((i for i in candidates if pattern.fullmatch(lines[i])), None)
            assert found is not None, f"{place}\nthe page shows\n{wanted}\nprinted was\n{output}"
            self.learn(wanted, pattern.fullmatch(lines[found]))
            at, anywhere = found + 1, False
        assert anywhere or at == len(lines), f"{place}\nthe page does not show\n{lines[at:]}"

    def pattern(self, wanted: str) -> re.Pattern[str]:
        """Return what a shown line may stand for."""
        pieces = re.split(rf"({VERSION.pattern}|…)", wanted)
        known = {"…": ".*?", **{v: re.escape(mine) for v, mine in self.versions.items()}}
        new = f"({VERSION.pattern})"
        return re.compile(
            "".join(known.get(p, new if VERSION.fullmatch(p) else re.escape(p)) for p in pieces)
        )

    def learn(self, wanted: str, match: re.Match[str] | None) -> None:
        """Remember the versions' names here."""
        new = [v for v in VERSION.findall(wanted) if v not in self.versions]
        self.versions |= dict(zip(new, match.groups() if match else (), strict=True))


def run_python(block: Block, namespace: dict[str, object]) -> str:
    """Run a Python block after those before it in its page; return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.body, block.place, "exec"), namespace)
    return out.getvalue()


@pytest.fixture
def port() -> Iterator[str]:
    """Return a port for the service."""
    with reserved_port() as port:
        yield str(port)


@pytest.fixture(scope="module")
def after_readme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory in which a reader has followed the README; pages go on from there."""
    directory = tmp_path_factory.mktemp("reader")
    (directory / "data").mkdir()
    (directory / "data" / "samples").symlink_to(ROOT / "data" / "samples")
    crates.configure(directory)
    with reserved_port() as port:
        Session(directory, str(port)).follow(README)
    return directory


@pytest.mark.deep
def test_the_examples_of_the_readme_run_and_print_what_it_shows(after_readme: Path) -> None:
    assert {"days", "registry", "report.html"} <= {path.name for path in after_readme.iterdir()}


@pytest.mark.deep
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_and_print_what_it_shows(
    page: Path, after_readme: Path, tmp_path: Path, port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "reader"
    shutil.copytree(after_readme, directory, symlinks=True)
    monkeypatch.chdir(directory)
    monkeypatch.syspath_prepend(directory)  # as at Python's prompt
    Session(directory, port).follow(page)


def test_every_block_is_run_or_says_why_not() -> None:
    counts: dict[str, int] = {}
    for page in (README, ROOT / "CONTRIBUTING.md", *PAGES):
        for block in blocks(page):
            if block.marked("not run"):
                counts[page.name] = counts.get(page.name, 0) + 1
            else:
                assert block.language in (*RUN, *SAVED), block.place
                assert block.language in RUN or block.marked("file"), block.place
    assert counts == NOT_RUN


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["one"], "two\n"),
        (["one"], "one\ntwo\n"),
        (["…", "two"], "one\n"),
        (["one …b"], "one a\n"),
        (
            ["20260101T000000Z-abcdef", "20260101T000000Z-abcdef"],
            "20270101T000000Z-abcdef\n" * 2 + "x",
        ),
    ],
)
def test_output_that_is_not_as_shown_is_found(
    shown: list[str], printed: str, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError):
        Session(tmp_path, "1").compare(shown, printed, "here")
