"""Resource options, end to end: time limits, replacement triggers, aliases, dependencies on components."""

import asyncio
import threading
from typing import Any

import pulumi
import pytest
from kit import Echo, Recording, Thing
from pulumi.dynamic import CreateResult, DiffResult, ResourceProvider
from stacks import Run, Stack


class Group(pulumi.ComponentResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tests:index:Group", name, None, opts)


def ops(result: Run) -> list[str]:
    """`op name` of each step, in the order of names; those of the stack left out."""
    return sorted(f"{op} {urn.rsplit('::', 1)[1]}" for op, urn in result.steps if not urn.endswith("::project-dev"))


# Time limits.


def limited(provider: Any, **limits: str) -> None:
    opts = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(**limits))
    Thing(provider, "a", {"size": 1}, opts)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_call_within_its_limit_is_made_as_any_other(stack: Stack) -> None:
    assert stack.up(lambda: limited(Echo(), create="1h")).outcome == "succeeded"
    assert stack.resources()["a"]["customTimeouts"] == {"create": 3600}


# In Node: an async call that takes too long is given up and stays pending
def test_an_async_call_that_takes_too_long_is_cancelled_and_stays_pending(stack: Stack) -> None:
    begun: list[str] = []
    cancelled: list[str] = []

    class Slow(ResourceProvider):
        async def create(self, props: dict[str, Any]) -> CreateResult:
            begun.append("create")
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                cancelled.append("create")
                raise
            return CreateResult("made", props)

    result = stack.run("update", lambda: limited(Slow(), create="50ms"))
    assert result.outcome == "failed"
    [error] = result.messages("error")
    assert "create of 'a' took longer than the 50ms that the option 'customTimeouts' gives it" in error
    # On a busy machine the limit may be over before the loop comes to the call, which then never begins.
    assert cancelled == begun
    assert stack.resources() == {}
    warnings = stack.up(lambda: None).messages("warning")
    assert any("an earlier run was interrupted while creating this resource" in text for text in warnings)


# In Python alone: threads: a Node program and its providers have one
def test_a_call_that_cannot_be_cancelled_is_given_up(stack: Stack) -> None:
    go_on = threading.Event()

    class Slow(ResourceProvider):
        def create(self, props: dict[str, Any]) -> CreateResult:
            go_on.wait()
            return CreateResult("made", props)

    def program() -> None:
        limited(Slow(), create="50ms")

    release = threading.Timer(1.0, go_on.set)
    release.start()
    result = stack.run("update", program)
    go_on.set()
    release.cancel()
    assert result.outcome == "failed"
    assert "create of 'a' took longer than the 50ms" in result.messages("error")[0]


# Replacement triggers.


def triggered(trigger: Any) -> None:
    Thing(Recording(), "a", {"size": 1}, pulumi.ResourceOptions(replacement_trigger=trigger))


def test_a_changed_replacement_trigger_replaces(stack: Stack) -> None:
    stack.up(lambda: triggered("one"))
    assert stack.resources()["a"]["replacementTrigger"] == "one"
    assert ops(stack.up(lambda: triggered("one"))) == ["same a"]
    assert ops(stack.up(lambda: triggered({"deep": [2]}))) == ["create-replacement a", "delete-replaced a", "replace a"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_first_or_last_replacement_trigger_changes_nothing(stack: Stack) -> None:
    stack.up(lambda: triggered(None))
    assert ops(stack.up(lambda: triggered("one"))) == ["same a"]
    assert ops(stack.up(lambda: triggered(None))) == ["same a"]


def test_a_secret_replacement_trigger_is_kept_secret(stack: Stack) -> None:
    stack.up(lambda: triggered(pulumi.Output.secret("hush")))
    assert stack.resources()["a"]["replacementTrigger"]["plaintext"] == '"hush"'
    assert ops(stack.up(lambda: triggered(pulumi.Output.secret("hush")))) == ["same a"]


def test_a_replacement_trigger_survives_a_transform(stack: Stack) -> None:
    def passing(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        return pulumi.ResourceTransformResult(args.props, args.opts)

    opts = pulumi.ResourceOptions(replacement_trigger="one", transforms=[passing])
    stack.up(lambda: Thing(Recording(), "a", {"size": 1}, opts))
    assert stack.resources()["a"]["replacementTrigger"] == "one"


# Aliases.


def aliased(name: str, *aliases: Any, parent: pulumi.Resource | None = None) -> None:
    Thing(Recording(), name, {"size": 1}, pulumi.ResourceOptions(aliases=list(aliases), parent=parent))


def test_a_resource_is_found_by_each_form_of_alias(stack: Stack) -> None:
    urn = "urn:pulumi:dev::project::pulumi-python:dynamic:Resource::"
    stack.up(lambda: aliased("one"))
    assert ops(stack.up(lambda: aliased("two", pulumi.Alias(name="one")))) == ["same two"]
    assert ops(stack.up(lambda: aliased("three", f"{urn}two"))) == ["same three"]
    moved = stack.up(lambda: aliased("three", pulumi.Alias(parent=pulumi.ROOT_STACK_RESOURCE), parent=Group("group")))
    assert ops(moved) == ["create group", "same three"]
    parent_urn = "urn:pulumi:dev::project::tests:index:Group::group"
    back = stack.up(lambda: aliased("three", pulumi.Alias(parent=parent_urn)))
    assert ops(back) == ["delete group", "same three"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_aliases_of_stack_project_and_type_are_found(stack: Stack) -> None:
    stack.up(lambda: aliased("one"))
    other = Stack(project="other", name="prod")
    other.restore(stack.export())
    alias = pulumi.Alias(stack="dev", project="project")
    result = other.up(lambda: aliased("one", alias))
    assert "same one" in ops(result)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_children_inherit_their_parents_alias(stack: Stack) -> None:
    def program(name: str, *aliases: pulumi.Alias) -> None:
        outer = Group(name, pulumi.ResourceOptions(aliases=list(aliases)))
        inner = Group(f"{name}-inner", pulumi.ResourceOptions(parent=outer))
        Thing(Recording(), f"{name}-inner-leaf", {"size": 1}, pulumi.ResourceOptions(parent=inner))
        Thing(Recording(), "plain", {"size": 1}, pulumi.ResourceOptions(parent=inner))

    stack.up(lambda: program("old"))
    result = stack.up(lambda: program("new", pulumi.Alias(name="old")))
    assert ops(result) == ["same new", "same new-inner", "same new-inner-leaf", "same plain"]


# Dependencies.


def test_a_dependency_on_a_component_is_one_on_its_children(stack: Stack) -> None:
    order: list[str] = []

    class Noting(ResourceProvider):
        def __init__(self, name: str) -> None:
            self.name = name

        def create(self, props: dict[str, Any]) -> CreateResult:
            order.append(self.name)
            return CreateResult(self.name, props)

    def program() -> None:
        group = Group("group")
        inner = Group("inner", pulumi.ResourceOptions(parent=group))
        Thing(Noting("a"), "a", {}, pulumi.ResourceOptions(parent=inner))
        Thing(Noting("b"), "b", {}, pulumi.ResourceOptions(depends_on=[group]))

    stack.up(program)
    assert order == ["a", "b"]
    resource = stack.resources()["b"]
    assert any(urn.endswith("::a") for urn in resource["dependencies"])


# Diffs.


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_hidden_differences_are_kept_with_the_resource(stack: Stack) -> None:
    stack.up(lambda: Thing(Recording(), "a", {"size": 1}, pulumi.ResourceOptions(hide_diffs=["size"])))
    assert stack.resources()["a"]["hideDiff"] == ["size"]
    result = stack.up(lambda: Thing(Recording(), "a", {"size": 2}, pulumi.ResourceOptions(hide_diffs=["size"])))
    assert ops(result) == ["update a"]


def test_what_diff_calls_stable_is_known_in_a_preview(stack: Stack) -> None:
    seen: list[Any] = []

    class Stable(Recording):
        def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
            return DiffResult(changes=olds["size"] != news["size"], stables=["arn"])

        def create(self, props: dict[str, Any]) -> CreateResult:
            return CreateResult("made", {**props, "arn": "arn:1"})

    class Made(Thing):
        arn: pulumi.Output[str]

    def program(size: int) -> None:
        a = Made(Stable(), "a", {"size": size, "arn": None})
        a.arn.apply(seen.append)

    stack.up(lambda: program(1))
    seen.clear()
    stack.preview(lambda: program(2))
    assert seen == ["arn:1"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("value[*]", [1, 2], [7, 8, 9], [1, 2, 9]),
        ("value[*]", [1, 2], [7], [1]),
        ("value[*]", [1, 2], [], []),
        ("value[*].cidr", [{"cidr": "old"}], [{"cidr": "new"}, {"cidr": "more"}], [{"cidr": "old"}, {"cidr": "more"}]),
        ("value.*[*].cidr", {"a": [{"cidr": 1}]}, {"a": [{"cidr": 2}, {}]}, {"a": [{"cidr": 1}, {}]}),
    ],
)
def test_ignored_items_keep_what_they_had_when_their_number_changes(
    stack: Stack, path: str, old: Any, new: Any, expected: Any
) -> None:
    def program(value: Any) -> None:
        Thing(Recording(), "a", {"value": value}, pulumi.ResourceOptions(ignore_changes=[path]))

    stack.up(lambda: program(old))
    stack.up(lambda: program(new))
    assert stack.resources()["a"]["inputs"]["value"] == expected


# The order of replacements.


class Targeted(ResourceProvider):
    """Replaced for another port, and changed by anything else."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult("made", {**props, "arn": f"arn-{props.get('port')}"})

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        changed = [key for key in news if key != "arn" and olds.get(key) != news[key]]
        return DiffResult(changes=bool(changed), replaces=[key for key in changed if key == "port"])


class Target(Thing):
    arn: pulumi.Output[str]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_dependent_goes_first_that_is_replaced_for_something_below_the_property(stack: Stack) -> None:
    def program(port: str) -> None:
        group = Target(
            Targeted(), "group", {"port": port, "arn": None}, pulumi.ResourceOptions(delete_before_replace=True)
        )
        opts = pulumi.ResourceOptions(replace_on_changes=["actions[*].target"])
        Thing(Targeted(), "listener", {"actions": [{"target": group.arn}]}, opts)

    stack.up(lambda: program("1"))
    result = stack.up(lambda: program("2"))
    deleted = [urn.rsplit("::", 1)[1] for op, urn in result.steps if op == "delete-replaced"]
    assert deleted == ["listener", "group"]
    assert stack.resources()["listener"]["inputs"]["actions"] == [{"target": "arn-2"}]
