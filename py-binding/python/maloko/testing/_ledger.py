"""Stacks of tests on real clouds: kept on disk, so that a killed run leaves a list of what it made."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError

if TYPE_CHECKING:
    from maloko._maloko import TestStack

DIRECTORY = ".maloko-tests"
"""Beside pytest's configuration; a directory for each stack of each test marked with `real_cloud`."""
_CARD = "test.json"


class Ledger:
    """The place on disk of one stack of a test."""

    def __init__(self, root: Path, test: str, number: int) -> None:
        name = hashlib.sha256(f"{test}:{number}".encode()).hexdigest()[:16]
        self.directory = root / DIRECTORY / name
        """Where the stack is kept."""
        self.test = test
        self.leftover = (self.directory / _CARD).exists()
        """Was there a run that did not come to its end?"""

    def open(self, project: str, stack: str) -> TestStack:
        """The stack, as a killed run has left it, or a new one."""
        from maloko._maloko import TestStack

        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = self.directory.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        card = {"test": self.test, "project": project, "stack": stack}
        (self.directory / _CARD).write_text(json.dumps(card) + "\n", encoding="utf-8")
        return TestStack.open(self.directory / "state", project, stack)

    def close(self) -> None:
        """Forgets a stack that has nothing left."""
        shutil.rmtree(self.directory, ignore_errors=True)


def leftovers(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The directories of stacks that are still there, with what is known of each."""
    found = []
    for card in sorted((root / DIRECTORY).glob(f"*/{_CARD}")):
        try:
            found.append((card.parent, json.loads(card.read_text(encoding="utf-8"))))
        except ValueError as error:
            raise MalokoError(
                f"{card} is damaged ({error}); look at the state beside it with maloko, and remove it"
            ) from None
    return found


def sweep(root: Path) -> tuple[list[str], list[str]]:
    """Deletes what killed runs have left; gives what was deleted, and what could not be, in words.

    There is no program: the provider objects are found again from the state.
    """
    from maloko._maloko import TestStack
    from maloko.testing._kit import Kit, tear_down
    from maloko.testing._stack import Stack

    done: list[str] = []
    failed: list[str] = []
    for directory, card in leftovers(root):
        kit = Kit(card["test"])
        stack = Stack(kit, _nothing, project=card["project"], name=card["stack"], real_time=True)
        stack.state = TestStack.open(directory / "state", card["project"], card["stack"])
        names = ", ".join(f"'{row['name']}' (id '{row['id']}')" for row in stack.resources().values() if row["custom"])
        problems = tear_down(stack)
        if problems:
            failed.extend(f"{card['test']}: {problem}" for problem in problems)
        else:
            done.append(f"{card['test']}: {names or 'nothing was left'}")
            shutil.rmtree(directory, ignore_errors=True)
    return done, failed


def _nothing() -> None:
    """A program without resources."""
