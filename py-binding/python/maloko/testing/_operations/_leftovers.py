"""What a stack leaves behind: its objects, and creates whose outcome is unknown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from maloko.testing._judgement import ask
from maloko.testing._operations._faults import Fault
from maloko.testing._operations._ledger import Ledger
from maloko.testing._operations._outcome import Run
from maloko.testing._operations._runs import on_a_free_thread

if TYPE_CHECKING:
    from maloko._maloko import TestStack

FORGET_OPTION = "--maloko-forget-unresolved"
"""Says of which unresolved creates it is known what became of their objects, by their keys."""


@dataclass(frozen=True)
class UnresolvedCreate:
    """A create whose outcome is unknown: its object may exist. One that raised is none: it has made nothing."""

    urn: str
    key: str
    """The operation key; the URN where there is none, because an older version began the create."""
    text: str
    """What happened to the create, in one line."""


def unresolved_in(state: TestStack) -> list[UnresolvedCreate]:
    """The unresolved creates of a state, without the secrets that it knows."""
    return [UnresolvedCreate(**it) for it in json.loads(state.unresolved_creates())]


class Leaving(Protocol):
    """What a teardown needs of a stack; `Stack` explains the members."""

    name: str
    state: TestStack
    ledger: Ledger | None
    faults: list[Fault]

    def _once(self, verb: str, options: Mapping[str, Any], crash: dict[str, Any] | None) -> Run: ...


@dataclass
class Teardown:
    """The outcome of an attempt to destroy what a stack has."""

    deleted: list[str] = field(default_factory=list)
    """What was there, or was found, and is gone now, in words."""
    problems: list[str] = field(default_factory=list)
    """What could not be deleted, in words."""
    forgotten: list[UnresolvedCreate] = field(default_factory=list)
    """Unresolved creates of which the user says that it is known what became of their objects."""


def destroy_all(stack: Leaving, settled: Sequence[str] = ()) -> Teardown:
    """Destroys what a stack has.

    :param settled: the keys of unresolved creates that are forgotten, or `all`.
    """
    resources = _resources(stack)
    unresolved = unresolved_in(stack.state) if stack.ledger is not None else []
    done = Teardown()
    if resources or unresolved:
        stack.faults.clear()
        # Past `around`: what a test has in store for its operations is none of the teardown's.
        options = {"continue_on_error": True, "ignore_protect": True}
        run = on_a_free_thread(lambda: stack._once("destroy", options, None))
        left = [resource for resource in _resources(stack) if resource["custom"]]
        gone = [
            (resource["name"], resource["id"]) for resource in resources if resource["custom"] and resource not in left
        ]
        # What `find` has found was not in the state before.
        deletes = [call for call in run.calls if call.method == "delete" and call.error is None]
        found = [(call.name, str(call.args["id"])) for call in deletes]
        done.deleted = [f"'{name}' (id '{id_}')" for name, id_ in dict.fromkeys([*gone, *found])]
        if run.outcome != "succeeded" or left:
            errors = "; ".join(run.messages("error")) or run.error or run.outcome
            names = ", ".join(
                f"'{resource['name']}' ({resource['type']}, id '{resource['id']}')" for resource in left
            ) or ("nothing in the state")
            done.problems.append(f"the stack '{stack.name}' could not be torn down; left over: {names}. {errors}")
        if unresolved:
            calls = [{"urn": it.urn, "method": it.method, "failed": it.error is not None} for it in run.calls]
            judged = ask(
                "unresolved",
                creates=[asdict(it) for it in unresolved_in(stack.state)],
                calls=calls,
                settled=list(settled),
                command=f"pytest --maloko-sweep '{FORGET_OPTION}={{keys}}'",
            )
            done.forgotten = [UnresolvedCreate(**it) for it in judged["forgotten"]]
            if judged["text"] is not None:
                done.problems.append(judged["text"])
    if stack.ledger is not None:
        done.problems.extend(stack.ledger.set_aside())
    return done


def tear_down(stack: Leaving) -> list[str]:
    """Destroys what a stack has; gives what could not be deleted, or may be left, in words."""
    try:
        return destroy_all(stack).problems
    except Exception as error:
        # Other stacks are torn down all the same.
        return [f"the stack '{stack.name}' could not be torn down: {error}"]


def _resources(stack: Leaving) -> list[dict[str, Any]]:
    """The resources of the state, with those that wait for their deletion."""
    resources: list[dict[str, Any]] = json.loads(stack.state.resources())["rows"]
    return resources
