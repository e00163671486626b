"""Makes the pictures of the README from what maloko shows on a terminal; with --check says whether they are still true.

It runs `maloko up` and a test of a law, each on a pseudo-terminal, and draws what the terminal shows. Seconds do
not count in the check.
"""

from __future__ import annotations

import argparse
import html
import io
import itertools
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pyte
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS, LINES = 100, 40
PATIENCE = 60.0
# Rich's own format asks a server for its font; pictures of a README may not.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<!-- Made by docs/pictures/make.py from what a terminal showed. -->
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def screen_of(
    command: list[str],
    folder: Path,
    environment: dict[str, str],
    until: Callable[[str], bool],
    after: Callable[[], None],
) -> pyte.Screen:
    """What a command has on its terminal when `until` says so, or when it has ended."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    own, its = pty.openpty()
    ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=its, stdout=its, stderr=its, start_new_session=True
    )
    os.close(its)
    taken = False
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not select.select([own], [], [], 1)[0]:
            continue
        try:
            read = os.read(own, 1 << 16)
        except OSError:  # it has ended
            break
        if not read:
            break
        if not taken:
            stream.feed(read)
            if until("\n".join(screen.display)):
                taken = True
                after()
    late = time.monotonic() >= deadline
    if late:
        process.kill()
    process.wait()
    os.close(own)
    if late:
        shown = "\n".join(screen.display).rstrip()
        raise SystemExit(f"{' '.join(command)} never showed what is wanted; its terminal:\n{shown}")
    return screen


def text_of(screen: pyte.Screen) -> Text:
    """The terminal's characters, with their colours."""
    text = Text()
    for row in range(LINES):
        cells = [screen.buffer[row][column] for column in range(COLUMNS)]
        for style, alike in itertools.groupby(cells, style_of):
            text.append("".join(cell.data for cell in alike), style)
        text.append("\n")
    lines = list(text.split("\n"))
    for line in lines:
        line.rstrip()
    while lines and not lines[-1].plain:
        lines.pop()
    while lines and not lines[0].plain:
        lines.pop(0)
    return Text("\n").join(lines)


def style_of(cell: Any) -> str:
    colours = [colour_of(cell.fg), "on " + colour_of(cell.bg) if cell.bg != "default" else ""]
    marks = [name for name, on in (("bold", cell.bold), ("italic", cell.italics), ("underline", cell.underscore)) if on]
    return " ".join(part for part in (*colours, *marks) if part)


def colour_of(name: str) -> str:
    if name == "default":
        return ""
    if re.fullmatch(r"[0-9a-f]{6}", name):
        return f"#{name}"
    known = {"brown": "yellow", "brightbrown": "bright_yellow"}
    return known.get(name, re.sub(r"^bright", "bright_", name))


def picture_of(text: Text, title: str) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(text, soft_wrap=False, highlight=False)
    drawn = console.export_svg(title=title, code_format=FORMAT, unique_id="shown")
    # Not every viewer keeps the blanks at the beginning of a text: the text begins after them.
    drawn = re.sub(r'(<text [^>]*x=")([\d.]+)("[^>]*textLength=")([\d.]+)("[^>]*>)((?:&#160;)+)', begun_later, drawn)
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


def begun_later(text: re.Match[str]) -> str:
    before, x, between, length, after, blanks = text.groups()
    width = 12.2 * blanks.count("&#160;")
    return f"{before}{float(x) + width:g}{between}{float(length) - width:g}{after}"


def words_of(drawn: str) -> list[str]:
    """The words in a picture, apart from what differs from run to run."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", drawn, re.DOTALL)
    told = html.unescape(" ".join(texts)).replace("\N{NO-BREAK SPACE}", " ")
    told = re.sub(r"[⠀-⣿]|\d+(\.\d+)?m?s\b", "*", told)
    return told.split()


def live(folder: Path) -> str:
    """`maloko up` in the middle of its work."""
    taken = folder / "taken"
    state = folder / "state"
    state.mkdir()
    environment = {
        **os.environ,
        "PULUMI_CONFIG_PASSPHRASE": "none",
        "PICTURE_TAKEN": str(taken),
        "PULUMI_BACKEND_URL": state.as_uri(),
        "TERM": "xterm-256color",
        "COLORTERM": "",
    }
    for name in ("CI", "NO_COLOR"):
        environment.pop(name, None)
    project = folder / "labels"
    shutil.copytree(HERE / "live", project, ignore=shutil.ignore_patterns("__pycache__"))
    maloko = str(Path(sys.executable).with_name("maloko"))
    subprocess.run([maloko, "stack", "init", "dev"], cwd=project, env=environment, check=True, capture_output=True)

    def wanted(shown: str) -> bool:
        # The last line is the last one of a frame: what is above it is whole.
        whole = (r"help-wanted +creating", r"question +created", r"2 done, 1 in progress.*\ds")
        return all(re.search(it, shown) for it in whole)

    screen = screen_of([maloko, "up", "--yes", "--skip-preview"], project, environment, wanted, taken.touch)
    return picture_of(text_of(screen), "maloko up")


def law(folder: Path) -> str:
    """A law's failure under pytest."""
    project = folder / "project"
    shutil.copytree(HERE / "law", project, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "TERM": "xterm-256color", "PY_COLORS": "1", "COLUMNS": str(COLUMNS)}
    for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "NO_COLOR"):
        environment.pop(name, None)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:asyncio", "--no-header", "-k", "l5"]
    command = [sys.executable, "-m", "pytest", *options, "test_labels.py"]
    screen = screen_of(command, project, environment, lambda _: False, lambda: None)
    return picture_of(text_of(screen), "pytest")


PICTURES: dict[str, Callable[[Path], str]] = {"live-tree": live, "law": law}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a picture is no longer true")
    check = parser.parse_args().check
    stale = []
    for name, made in PICTURES.items():
        file = HERE / f"{name}.svg"
        with tempfile.TemporaryDirectory() as folder:
            drawn = made(Path(folder))
        if check:
            kept = file.read_text(encoding="utf-8") if file.exists() else ""
            if words_of(kept) != words_of(drawn):
                stale.append(name)
                print(f"{file} shows\n  {' '.join(words_of(kept))}\nand the terminal\n  {' '.join(words_of(drawn))}")
        else:
            file.write_text(drawn, encoding="utf-8")
            print(file)
    if stale:
        print("run `make pictures`, look at them, and commit them", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
