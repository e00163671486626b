"""Stacks of tests on real clouds: kept on disk, so that a killed run leaves a list of what it made."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from maloko._errors import MalokoError
from maloko.testing._judgement import ask

if TYPE_CHECKING:
    from maloko._maloko import TestStack


@dataclass
class Ledger:
    """The place on disk of one stack of a test marked with `real_cloud`; beside pytest's configuration."""

    directory: Path
    """Where the stack is kept."""
    state: Path
    """Where its state is."""
    test: str
    file: str
    project: str
    stack: str
    plugins: str
    """Are resources of packages stubbed, or are they `real`?"""
    leftover: bool
    """Was there a run that did not come to its end?"""

    @classmethod
    def of_test(cls, root: Path, test: str, number: int, project: str, stack: str, plugins: str) -> Ledger:
        """That of one of a test's stacks. Raises `MalokoError` for a directory that cannot be used."""
        card = {"test": test, "project": project, "stack": stack, "plugins": plugins}
        told = ask("ledger", root=str(root), card=card, number=number, runtime="python")
        return cls(Path(told["directory"]), Path(told["state"]), test, "", project, stack, plugins, told["leftover"])

    def open(self) -> TestStack:
        """The stack, as a killed run has left it, or a new one. Raises `MalokoError` for one that cannot be read."""
        from maloko._maloko import TestStack

        try:
            return TestStack.open(self.state, self.project, self.stack)
        except RuntimeError as error:
            directory = str(self.directory)
            told = ask("ledger_unreadable", test=self.test, directory=directory, stack=self.stack, error=str(error))
            raise MalokoError(told) from error

    def close(self) -> None:
        """Forgets a stack that has nothing left."""
        shutil.rmtree(self.directory, ignore_errors=True)


def left_behind(root: Path) -> list[Ledger | str]:
    """The stacks that killed runs have left; of one that cannot be read, why."""
    return [
        it["damaged"]
        or Ledger(
            Path(it["directory"]),
            Path(it["state"]),
            **it["card"],
            leftover=True,
        )
        for it in ask("leftovers", root=str(root))
    ]
