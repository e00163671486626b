"""What stacks have changed in starts that were not their last ones: their ends tell of it, too."""

from __future__ import annotations

from maloko.fleet._wire import Outcome, StackEnd

NO_CHANGE = frozenset(("same", "read"))
"""What is done to resources that stay as they are."""


class EarlierChanges:
    """By stack, resources by what was done to them."""

    def __init__(self, changes: dict[str, dict[str, int]] | None = None) -> None:
        self._changes = dict(changes or {})

    def of(self, name: str) -> dict[str, int]:
        """What the earlier starts of a stack have changed."""
        return self._changes.get(name, {})

    def add(self, end: StackEnd) -> None:
        """A start has ended so, and another one follows."""
        self.add_changes(end["id"], end["changes"])

    def add_changes(self, name: str, changes: dict[str, int]) -> None:
        """A start has changed that, and another one follows."""
        self._changes[name] = self._sum(name, changes)

    def in_all(self, end: StackEnd) -> StackEnd:
        """The end of a stack with what all its starts have changed."""
        if not self.of(end["id"]):
            return end
        left = {op: count for op, count in end["changes"].items() if op in NO_CHANGE}
        outcome: Outcome = "done" if end["outcome"] == "unchanged" else end["outcome"]
        return {**end, "outcome": outcome, "changes": {**self._sum(end["id"], end["changes"]), **left}}

    def state(self, ended: dict[str, StackEnd]) -> dict[str, dict[str, int]]:
        """The same without the stacks that have ended."""
        return {name: changes for name, changes in self._changes.items() if name not in ended}

    def _sum(self, name: str, more: dict[str, int]) -> dict[str, int]:
        changes = dict(self.of(name))
        for op, count in more.items():
            if op not in NO_CHANGE:
                changes[op] = changes.get(op, 0) + count
        return changes
