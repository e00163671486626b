"""Deletes what tests on real clouds have left that were killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maloko.testing._kit import Kit
from maloko.testing._operations._ledger import Ledger, left_behind
from maloko.testing._operations._leftovers import tear_down
from maloko.testing._operations._stack import Stack


def sweep(root: Path, settled: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Deletes what killed runs have left; gives what was done, and what could not be, in words. Each stack is swept by
    itself, whatever is wrong with others.

    There is no program: the provider objects are found again from the state.

    :param settled: the keys of unresolved creates that are forgotten, or `all`.
    """
    done: list[str] = []
    failed: list[str] = []
    for ledger in left_behind(root):
        if isinstance(ledger, str):
            failed.append(ledger)
            continue
        try:
            _sweep_one(ledger, settled, done, failed)
        except Exception as error:
            told = str(error) or repr(error)
            failed.append(told if str(ledger.directory) in told else f"{ledger.directory}: {told}")
    return done, [f"NOT DELETED {problem}" for problem in failed]


def _sweep_one(ledger: Ledger, settled: Sequence[str], done: list[str], failed: list[str]) -> None:
    kit = Kit(ledger.test)
    kit.plugins = ledger.plugins
    stack = Stack(kit, _nothing, project=ledger.project, name=ledger.stack, real_time=True, state=ledger.open())
    stack._ledger = ledger
    result = tear_down(stack, settled)
    done.extend(f"forgotten {ledger.test}: {text}" for text in result.forgotten)
    failed.extend(f"{ledger.test}: {problem}" for problem in result.problems)
    if result.deleted or not result.problems:
        done.append(f"deleted {ledger.test}: {', '.join(result.deleted) or 'nothing was left'}")
    if not result.problems:
        ledger.close()


def _nothing() -> None:
    """A program without resources."""
