"""The tutorial of laws, crashes and lifecycles is done as it says, from its first file to its last output."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIAL = DOCS / "tutorials" / "testing-a-provider.md"
READERS = {"python": "python", "ts": "ts", "console": None, "diff": None, "text": None}
"""The reader's language of a block; of the others the second word says it."""


@dataclass
class Block:
    """A fenced block of a document, whom it is for, and the paragraph that stands before it."""

    language: str
    reader: str
    intro: str
    lines: list[str] = field(default_factory=list)


def blocks_of(document: Path) -> list[Block]:
    found: list[Block] = []
    block: Block | None = None
    paragraphs = [""]
    for line in document.read_text(encoding="utf-8").splitlines():
        if block is None and line.startswith("```"):
            language, _, reader = line.removeprefix("```").partition(" ")
            block = Block(language, READERS[language] or reader, next(it for it in reversed(paragraphs) if it))
        elif block is not None and line == "```":
            found.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
        elif line:
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append("")
    return found


def essence(text: str) -> list[str]:
    """The lines of an output, without what differs from run to run and from one terminal's width to another's."""
    lines = (
        re.sub(r" in [\d.]+s(?: \(\d+:\d\d:\d\d\))?$", "", re.sub(r"^(?:E|>) +", "", line))
        for line in text.splitlines()
    )
    return [" ".join(line.partition(" - ")[0].split()) for line in lines]


def assert_printed(expected: list[str], output: str) -> None:
    """Fails unless all lines that are expected were printed, in that order. `...` stands for any number of others."""
    printed = iter(essence(output))
    for line in essence("\n".join(expected)):
        assert line in ("", "...") or line in printed, f"not printed, or not there: {line!r} in\n{output}"


def changed(text: str, diff: list[str]) -> str:
    before = "\n".join(line[1:] for line in diff if not line.startswith("+"))
    after = "\n".join(line[1:] for line in diff if not line.startswith("-"))
    assert text.count(before) == 1, f"{before!r} is not to be found once in\n{text}"
    return text.replace(before, after)


@pytest.mark.nightly
def test_the_tutorial_is_true_from_its_first_run_to_its_last(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    # The plugins that somebody has who did as the tutorial says.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "maloko.testing.plugin,_hypothesis_pytestplugin")
    outputs: list[str] = []
    for block in blocks_of(TUTORIAL):
        if block.reader != "python":
            continue
        if block.language == "python":
            file = pytester.path / re.findall(r"`(\w+\.py)`", block.intro)[-1]
            known = file.read_text(encoding="utf-8") if file.exists() else ""
            file.write_text(known + "\n".join(block.lines) + "\n", encoding="utf-8")
        elif block.language == "diff":
            file = pytester.path / block.lines[0].removeprefix("--- ")
            file.write_text(changed(file.read_text(encoding="utf-8"), block.lines[1:]), encoding="utf-8")
        elif block.language == "text":
            assert any(printed_in(block.lines, output) for output in outputs), "\n".join(block.lines)
        else:
            assert block.language == "console"
            commands = "\n".join(block.lines).split("$ ")[1:]
            for command, _, expected in (it.partition("\n") for it in commands):
                program, *arguments = shlex.split(command)
                if program in ("python3", "pip"):
                    continue
                assert program == "pytest", command
                # In a process of its own: Hypothesis draws from the constants of all modules that are loaded.
                result = pytester.runpytest_subprocess(*arguments)
                outputs.append("\n".join([*result.outlines, *result.errlines]))
                assert_printed(expected.splitlines(), outputs[-1])
    assert outputs


def printed_in(lines: list[str], output: str) -> bool:
    try:
        assert_printed(lines, output)
    except AssertionError:
        return False
    return True


def test_the_tutorials_of_both_languages_tell_one_story() -> None:
    blocks = blocks_of(TUTORIAL)
    kinds = {
        reader: [block.language.replace(reader, "code") for block in blocks if block.reader == reader]
        for reader in ("python", "ts")
    }
    assert kinds["python"] == kinds["ts"]
    assert len(kinds["python"]) * 2 == len(blocks)
