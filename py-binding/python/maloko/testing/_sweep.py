"""Deletes what tests on real clouds have left that were killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maloko.testing._kit import Kit
from maloko.testing._operations._ledger import Ledger, left_behind
from maloko.testing._operations._leftovers import destroy_all
from maloko.testing._operations._stack import Stack


def sweep(root: Path, settled: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Deletes what killed runs have left; gives what was done, and what could not be, in words. Each stack is swept by
    itself, whatever is wrong with others.

    There is no program: the provider objects are found again from the state.

    :param settled: the keys of unresolved creates that are forgotten, or `all`.
    """
    done: list[str] = []
    failed: list[str] = []
    for directory in left_behind(root):
        try:
            _sweep_one(Ledger.of_leftover(directory), settled, done, failed)
        except Exception as error:
            told = str(error) or repr(error)
            failed.append(told if str(directory) in told else f"{directory}: {told}")
    return done, [f"NOT DELETED {problem}" for problem in failed]


def _sweep_one(ledger: Ledger, settled: Sequence[str], done: list[str], failed: list[str]) -> None:
    state = ledger.open()
    kit = Kit(ledger.test)
    kit.plugins = ledger.plugins
    stack = Stack(kit, _nothing, project=ledger.project, name=ledger.stack, real_time=True, state=state)
    stack.ledger = ledger
    result = destroy_all(stack, settled)
    if result.forgotten:
        state.forget_creates([it.urn for it in result.forgotten])
    done.extend(f"forgotten {ledger.test}: {it.text}" for it in result.forgotten)
    problems = result.problems
    failed.extend(f"{ledger.test}: {problem}" for problem in problems)
    if result.deleted or not problems:
        done.append(f"deleted {ledger.test}: {', '.join(result.deleted) or 'nothing was left'}")
    if not problems:
        ledger.close()


def _nothing() -> None:
    """A program without resources."""
