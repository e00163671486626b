"""What a stack leaves behind: its objects, and creates whose outcome is unknown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from maloko.testing._runs import on_a_free_thread
from maloko.testing._scrubbing import Scrubber, secret_texts

if TYPE_CHECKING:
    from maloko._maloko import TestStack
    from maloko.testing._stack import Stack

FORGET_OPTION = "--maloko-forget-unresolved"
"""Says of which unresolved creates it is known what became of their objects, by their keys."""
_ALL = "all"
_STORIES = {
    "timed-out": "its create took longer than it may",
    "cancelled": "its create was cancelled",
    "unreadable": "its create returned something that cannot be used",
}
_DIED = "its create was under way when the run ended"
"""Also for what a newer state knows more of: nothing is known."""


@dataclass(frozen=True)
class UnresolvedCreate:
    """A create whose outcome is unknown: its object may exist. One that raised is none: it has made nothing."""

    urn: str
    key: str
    """The operation key; the URN where there is none, because an older version began the create."""
    story: str
    """What happened to the create, and when."""

    def describe(self) -> str:
        """The unresolved create in one line."""
        key = f", operation key {self.key}" if self.key != self.urn else ""
        return f"'{self.urn.rsplit('::', 1)[-1]}' ({self.story}; {self.urn}{key})"

    def is_among(self, keys: Iterable[str]) -> bool:
        """Do these keys name it?"""
        return any(key in (_ALL, self.key) for key in keys)


def unresolved_in(exported: Mapping[str, Any]) -> list[UnresolvedCreate]:
    """The unresolved creates of an exported state, without the secrets that it knows."""
    scrubber = Scrubber(secret_texts(exported))
    found = {}
    for pending in _operations(exported):
        urn = pending["resource"]["urn"]
        found[urn] = UnresolvedCreate(urn, urn, _DIED)
    for record in exported["deployment"].get("maloko_suspects") or []:
        urn = record["resource"]["urn"]
        found.pop(urn, None)
        if record["doubt"] == "raised":
            continue
        story = _STORIES.get(record["doubt"], _DIED)
        if record.get("since"):
            story += f", begun {record['since']}"
        if record.get("attempts", 1) > 1:
            story += f", {record['attempts']} attempts"
        if record["resource"].get("id"):
            story += f", id '{record['resource']['id']}'"
        if record.get("error"):
            story += f", error: {' '.join(str(scrubber.values(record['error'])).split())}"
        found[urn] = UnresolvedCreate(urn, record.get("key") or urn, story)
    return list(found.values())


def forget_unresolved(state: TestStack, unresolved: Sequence[UnresolvedCreate]) -> None:
    """Takes unresolved creates out of a state: it is known what became of their objects."""
    if not unresolved:
        return
    urns = {it.urn for it in unresolved}
    exported = json.loads(state.export())
    deployment = exported["deployment"]
    settled = [pending for pending in _operations(exported) if pending["resource"]["urn"] in urns]
    for member, gone in (
        ("maloko_suspects", [it for it in deployment.get("maloko_suspects") or [] if it["resource"]["urn"] in urns]),
        ("pending_operations", settled),
    ):
        deployment[member] = [it for it in deployment.get(member) or [] if it not in gone]
    state.restore(json.dumps(exported).encode(), "the state of the test")


def _operations(exported: Mapping[str, Any]) -> list[Any]:
    """The creates among the pending operations."""
    pending = exported["deployment"].get("pending_operations") or []
    return [operation for operation in pending if operation["type"] == "creating"]


@dataclass
class Teardown:
    """What came of an attempt to destroy what a stack has."""

    deleted: list[str] = field(default_factory=list)
    """What was there, or was found, and is gone now, in words."""
    problems: list[str] = field(default_factory=list)
    """What could not be deleted, in words."""
    unresolved: list[UnresolvedCreate] = field(default_factory=list)
    """Where the stack is kept on disk: what may be left. What the provider's `find` has not found is not."""


def destroy_all(stack: Stack) -> Teardown:
    """Destroys what a stack has."""
    rows = _rows(stack)
    unresolved = unresolved_in(stack.export()) if stack.ledger is not None else []
    done = Teardown()
    if rows or unresolved:
        stack.faults.clear()
        # Past `around`: what a test has in store for its operations is none of the teardown's.
        options = {"continue_on_error": True, "ignore_protect": True}
        run = on_a_free_thread(lambda: stack._once("destroy", options, None))
        left = [row for row in _rows(stack) if row["custom"]]
        gone = [(row["name"], row["id"]) for row in rows if row["custom"] and row not in left]
        # What `find` has found was no row before.
        deletes = [call for call in run.calls if call.method == "delete" and call.error is None]
        found = [(call.name, str(call.args["id"])) for call in deletes]
        done.deleted = [f"'{name}' (id '{id_}')" for name, id_ in dict.fromkeys([*gone, *found])]
        if run.outcome != "succeeded" or left:
            errors = "; ".join(run.messages("error")) or run.error or run.outcome
            names = ", ".join(f"'{row['name']}' ({row['type']}, id '{row['id']}')" for row in left) or (
                "nothing in the state"
            )
            done.problems.append(f"the stack '{stack.name}' could not be torn down; left over: {names}. {errors}")
        if unresolved:
            asked = {call.urn for call in run.calls if call.method in ("find", "read") and call.error is None}
            done.unresolved = [it for it in unresolved_in(stack.export()) if it.urn not in asked]
    if stack.ledger is not None:
        done.problems.extend(stack.ledger.set_aside())
    return done


def tear_down(stack: Stack) -> list[str]:
    """Destroys what a stack has; gives what could not be deleted, or may be left, in words."""
    try:
        done = destroy_all(stack)
    except Exception as error:
        # Other stacks are torn down all the same.
        return [f"the stack '{stack.name}' could not be torn down: {error}"]
    return [*done.problems, *tell(done.unresolved)]


def tell(unresolved: Sequence[UnresolvedCreate]) -> list[str]:
    """Names what may be left, and says how that is settled; nothing where there is no unresolved create."""
    if not unresolved:
        return []
    names = "; ".join(it.describe() for it in unresolved)
    keys = ",".join(it.key for it in unresolved)
    return [
        f"these may have been made: {names}. Look for each and delete what you find. Then run: "
        f"pytest --maloko-sweep '{FORGET_OPTION}={keys}'"
    ]


def _rows(stack: Stack) -> list[dict[str, Any]]:
    """The rows of the state, with those that wait for their deletion."""
    rows: list[dict[str, Any]] = json.loads(stack.state.resources())["rows"]
    return rows
