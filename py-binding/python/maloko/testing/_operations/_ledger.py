"""Stacks of tests on real clouds: kept on disk, so that a killed run leaves a list of what it made."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing._judgement import ask

if TYPE_CHECKING:
    from maloko._maloko import TestStack

DIRECTORY = ".maloko-tests"
"""Beside pytest's configuration; a directory for each stack of each test marked with `real_cloud`."""
_CARD = "test.json"
_STATE = "state"
_PROJECT = "Pulumi.yaml"
"""With it, the commands of maloko that do without a program work on the stack."""


class Ledger:
    """The place on disk of one stack of a test."""

    def __init__(self, directory: Path, test: str, project: str, stack: str, plugins: str = "stubs") -> None:
        self.directory = directory
        """Where the stack is kept."""
        self.test = test
        self.project = project
        self.stack = stack
        self.plugins = plugins
        """Are resources of packages stubbed, or are they `real`?"""
        self.leftover = (directory / _CARD).exists()
        """Was there a run that did not come to its end?"""

    @classmethod
    def of_test(cls, root: Path, test: str, number: int, project: str, stack: str, plugins: str) -> Ledger:
        """That of one of a test's stacks."""
        name = hashlib.sha256(f"{test}:{number}:{project}:{stack}".encode()).hexdigest()[:16]
        return cls(root / DIRECTORY / name, test, project, stack, plugins)

    @classmethod
    def of_leftover(cls, directory: Path) -> Ledger:
        """What a run has left in a directory. Raises `MalokoError` when its card cannot be read."""
        card = directory / _CARD
        try:
            known: dict[str, Any] = json.loads(card.read_text(encoding="utf-8"))
            named = str(known["test"]), str(known["project"]), str(known["stack"])
            return cls(directory, *named, str(known.get("plugins", "stubs")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MalokoError(
                f"{card} is damaged ({error}), so that {directory} was not swept; look at the state beside it with "
                "maloko, and remove it"
            ) from None

    def open(self) -> TestStack:
        """The stack, as a killed run has left it, or a new one. Raises `MalokoError` for one that cannot be read."""
        from maloko._maloko import TestStack

        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = self.directory.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        project = f"name: {json.dumps(self.project)}\nruntime: python\nbackend:\n  url: file://./{_STATE}\n"
        (self.directory / _PROJECT).write_text(project, encoding="utf-8")
        card = {"test": self.test, "project": self.project, "stack": self.stack, "plugins": self.plugins}
        (self.directory / _CARD).write_text(json.dumps(card) + "\n", encoding="utf-8")
        try:
            return TestStack.open(self.directory / _STATE, self.project, self.stack)
        except RuntimeError as error:
            told = ask(
                "ledger_unreadable",
                test=self.test,
                directory=str(self.directory),
                stack=self.stack,
                error=str(error),
            )
            raise MalokoError(told) from error

    def set_aside(self) -> list[str]:
        """The damaged journals that are kept beside the state, in words: they may tell of what the state does not."""
        journals = sorted((self.directory / _STATE / ".pulumi" / "maloko").glob("*/*/journal-*"))
        told: list[str] = ask("journals_set_aside", journals=[str(journal) for journal in journals])
        return told

    def close(self) -> None:
        """Forgets a stack that has nothing left."""
        shutil.rmtree(self.directory, ignore_errors=True)


def left_behind(root: Path) -> list[Path]:
    """The directories of the stacks that killed runs have left."""
    return sorted(card.parent for card in (root / DIRECTORY).glob(f"*/{_CARD}"))
