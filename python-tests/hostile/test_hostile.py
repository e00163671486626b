"""Every behaviour in every method: no hang, no abort, a typed error on the resource, the rest of the stack as it was,
and a next run that works. docs/internals/hostile-providers.md is the table of what was seen."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from kit import Echo, Thing
from pulumi.dynamic import CheckResult, ConfigureRequest, CreateResult, DiffResult, ReadResult, UpdateResult
from stacks import Run, Stack

from hostile.behaviours import HANGS, TABLE, Behaviour, undone
from hostile.table import METHODS, check_document, note

# One of each behaviour's methods; Node has others. In `make nightly` all of them in both languages.
TRIED = [
    pytest.param(behaviour, method, id=f"{behaviour.name}-{method}")
    for row, behaviour in enumerate(TABLE)
    for column, method in enumerate(METHODS)
    if os.environ.get("MALOKO_LONG") or (row + column) % 7 == 0
]

# Far above what a good call takes on a busy machine: such a call must not be given up in place of the hostile one.
LIMIT = "1500ms"


def good_answer(method: str) -> Callable[..., Any]:
    """Makes the answer that the method should give, with such properties."""
    return {
        "configure": lambda _outs, id_="made": None,
        "check": lambda outs, id_="made": CheckResult(outs, []),
        "diff": lambda _outs, id_="made": DiffResult(changes=True),
        "create": lambda outs, id_="made": CreateResult(id_, outs),
        "read": lambda outs, id_="made": ReadResult(id_, outs),
        "update": lambda outs, id_="made": UpdateResult(outs),
        "delete": lambda _outs, id_="made": None,
    }[method]


class Good(Echo):
    def configure(self, req: ConfigureRequest) -> None:
        pass

    def check(self, _olds, news):
        return CheckResult(news, [])

    def diff(self, _id, olds, news):
        return DiffResult(changes=olds.get("n") != news["n"])

    def read(self, id_, props):
        return ReadResult(id_, props)

    def update(self, _id, _olds, news):
        return UpdateResult(dict(news))

    def delete(self, id_, props):
        pass


def bystander() -> None:
    Thing(Echo(), "bystander", {"n": 1})


def up(stack: Stack, provider: Any, n: int) -> Run:
    def program() -> None:
        bystander()
        Thing(provider, "a", {"n": n})

    return stack.run("update", program)


def prepare(stack: Stack, method: str) -> None:
    """Brings the resource into the state in which the method is called."""
    if method in ("configure", "check", "create"):
        assert stack.run("update", bystander).outcome == "succeeded"
    else:
        assert up(stack, Good(), 1).outcome == "succeeded"


def run_with(stack: Stack, method: str, provider: Any) -> Run:
    """Runs with the resource in the state in which the method is called."""
    if method in ("read", "delete"):
        kind = {"read": "refresh", "delete": "update"}[method]
        if method == "read":
            return stack.run(kind, lambda: (bystander(), Thing(provider, "a", {"n": 1}))[0])
        return replace_with(stack, provider)
    return up(stack, provider, 2)


def replace_with(stack: Stack, provider: Any) -> Run:
    """A run that deletes `a` with its live provider, and nothing else."""

    class Replacing(type(provider)):  # type: ignore[misc]
        def diff(self, _id, olds, news):
            return DiffResult(changes=True, replaces=["n"], delete_before_replace=True)

    return up(stack, Replacing(), 2)


def seen(result: Run) -> str:
    """The outcome in a word."""
    if result.outcome == "succeeded":
        return "fine"
    return "given up" if "took longer than" in errors(result) else "error"


def errors(result: Run) -> str:
    return "\n".join(text for severity, urn, text in result.diagnostics if severity == "error" and urn.endswith("::a"))


def pending(stack: Stack) -> list[str]:
    return [it["type"] for it in stack.export()["deployment"].get("pending_operations", [])]


@pytest.mark.parametrize(("behaviour", "method"), TRIED)
def test_hostile(stack: Stack, behaviour: Behaviour, method: str) -> None:
    prepare(stack, method)
    if behaviour.kind == HANGS:
        stack.config["maloko:callLimit"] = LIMIT
    play = behaviour.play
    bad = type("Bad", (Good,), {method: lambda _self, *_: play(method, good_answer(method))})()
    with undone():
        result = run_with(stack, method, bad)
    outcome = seen(result)
    assert outcome == behaviour.expected(method), (result.error, result.diagnostics)
    note("python", behaviour.name, method, outcome)
    resources = stack.resources()
    assert resources["bystander"]["outputs"]["n"] == 1
    if outcome != "fine":
        said = errors(result)
        assert any(part in said for part in behaviour.says.split("|")), said
        assert len(said) < 100_000
        goes_on(stack, behaviour, method, resources)


def goes_on(stack: Stack, behaviour: Behaviour, method: str, resources: dict[str, Any]) -> None:
    """After the failure the state says what is known, and a correct provider brings the stack to where it should be."""
    stack.config.clear()
    if method in ("configure", "check", "diff", "read"):
        # Nothing was changed outside.
        assert pending(stack) == []
        assert ("a" in resources) == (method in ("diff", "read"))
    elif method == "create":
        assert pending(stack) == (["creating"] if behaviour.hides_an_object(method) else [])
    else:
        assert "a" in resources
    again = up(stack, Good(), 3)
    assert again.outcome == "succeeded", again.diagnostics
    assert stack.resources()["a"]["outputs"]["n"] == 3
    if behaviour.hides_an_object(method):
        assert any("there may now be one object too many" in text for text in again.messages("warning"))


def test_the_table_in_the_documents_is_what_was_seen() -> None:
    check_document("python", len(TABLE) * len(METHODS))


def test_there_are_fifty_behaviours_and_more_each_with_a_name_of_its_own() -> None:
    assert len({behaviour.name for behaviour in TABLE}) == len(TABLE) >= 50
