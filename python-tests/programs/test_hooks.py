"""Resource hooks run around operations, error hooks after failures."""

from typing import Any

import pulumi
from kit import Recording, Thing
from pulumi.dynamic import CreateResult
from stacks import Run, Stack

MOMENTS = ["before_create", "after_create", "before_update", "after_update", "before_delete", "after_delete"]


class Noting(Recording):
    """Notes its calls in the list that the hooks note theirs in."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        super().create(props)
        return CreateResult("made", dict(props))


def calls() -> list[str]:
    """What was called since the last time."""
    names = [name for name, _ in Recording.calls if name != "diff"]
    Recording.calls.clear()
    return names


def noting(moment: str, told: dict[str, Any] | None = None) -> pulumi.ResourceHook:
    def hook(args: pulumi.ResourceHookArgs) -> None:
        Recording.calls.append((moment, None))
        if told is not None:
            told[moment] = args

    return pulumi.ResourceHook(moment, hook)


def everywhere(told: dict[str, Any] | None = None) -> pulumi.ResourceHookBinding:
    return pulumi.ResourceHookBinding(**{moment: [noting(moment, told)] for moment in MOMENTS})


def hooked(hooks: pulumi.ResourceHookBinding, props: dict[str, Any] | None = None) -> None:
    Thing(Recording(), "a", props or {"size": 1}, pulumi.ResourceOptions(hooks=hooks))


def errors(result: Run) -> str:
    return "\n".join(result.messages("error"))


def test_hooks_run_around_each_operation_and_not_around_same(stack: Stack) -> None:
    calls()
    stack.up(lambda: hooked(everywhere()))
    assert calls() == ["before_create", "create", "after_create"]
    stack.up(lambda: hooked(everywhere()))
    assert calls() == []
    stack.up(lambda: hooked(everywhere(), {"size": 2}))
    assert calls() == ["before_update", "update", "after_update"]
    stack.destroy(lambda: hooked(everywhere(), {"size": 2}))
    assert calls() == ["before_delete", "delete", "after_delete"]


def test_hooks_are_told_of_the_old_and_the_new_side(stack: Stack) -> None:
    told: dict[str, Any] = {}
    stack.up(lambda: hooked(everywhere(told)))
    stack.up(lambda: hooked(everywhere(told), {"size": 2}))
    stack.destroy(lambda: hooked(everywhere(told), {"size": 2}))
    old, new = {"size": 1}, {"size": 2}
    sides = {
        moment: (args.id, args.old_inputs, args.new_inputs, args.old_outputs, args.new_outputs)
        for moment, args in told.items()
    }
    assert sides == {
        "before_create": ("", None, old, None, None),
        "after_create": ("made", None, old, None, old),
        "before_update": ("made", old, new, old, None),
        "after_update": ("made", old, new, old, new),
        "before_delete": ("made", new, None, new, None),
        "after_delete": ("made", new, None, new, None),
    }
    args = told["after_update"]
    assert (args.name, args.type) == ("a", "pulumi-python:dynamic:Resource")
    assert args.urn == "urn:pulumi:dev::project::pulumi-python:dynamic:Resource::a"


def test_a_secret_reaches_a_hook_as_an_output(stack: Stack) -> None:
    told: dict[str, Any] = {}
    stack.up(lambda: hooked(everywhere(told), {"token": pulumi.Output.secret("hush"), "size": 1}))
    inputs = told["before_create"].new_inputs
    assert isinstance(inputs["token"], pulumi.Output)
    assert "hush" not in repr(told["before_create"])
    assert inputs["size"] == 1


def test_an_async_hook_is_awaited(stack: Stack) -> None:
    calls()

    async def slow(_: pulumi.ResourceHookArgs) -> None:
        import asyncio

        await asyncio.sleep(0)
        Recording.calls.append(("slow", None))

    hooks = {"before_create": [slow]}
    stack.up(lambda: hooked(pulumi.ResourceHookBinding(**hooks)))
    assert calls() == ["slow", "create"]


def failing_at(moment: str, name: str, options: pulumi.ResourceHookOptions | None = None) -> None:
    """A resource with a hook that fails."""

    def closed(_: pulumi.ResourceHookArgs) -> None:
        raise RuntimeError("not on a Friday")

    hooked(pulumi.ResourceHookBinding(**{moment: [pulumi.ResourceHook(name, closed, options)]}))


def test_a_failing_before_hook_stops_the_operation(stack: Stack) -> None:
    calls()
    result = stack.run("update", lambda: failing_at("before_create", "closed"))
    assert result.outcome == "failed"
    assert "the hook 'closed' (before_create) failed: not on a Friday" in errors(result)
    assert calls() == []
    assert stack.resources() == {}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_failing_after_hook_fails_the_run_but_keeps_what_was_done(stack: Stack) -> None:
    result = stack.run("update", lambda: failing_at("after_create", "mail"))
    assert result.outcome == "failed"
    assert "the hook 'mail' (after_create) failed: not on a Friday" in errors(result)
    assert stack.resources()["a"]["id"] == "made"


def test_a_hook_whose_errors_are_ignored_only_warns(stack: Stack) -> None:
    options = pulumi.ResourceHookOptions(ignore_errors=True)
    result = stack.up(lambda: failing_at("before_create", "closed", options))
    assert any("not on a Friday" in text for text in result.messages("warning"))


def test_in_a_preview_only_hooks_with_on_dry_run_are_called(stack: Stack) -> None:
    calls()

    def program() -> None:
        def note(_: pulumi.ResourceHookArgs) -> None:
            Recording.calls.append(("dry", None))

        dry = pulumi.ResourceHook("dry", note, pulumi.ResourceHookOptions(on_dry_run=True))
        hooked(pulumi.ResourceHookBinding(before_create=[noting("wet")], after_create=[dry]))

    stack.preview(program)
    assert calls() == ["dry"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_delete_hook_that_the_program_lacks_keeps_the_resource(stack: Stack) -> None:
    calls()
    stack.up(lambda: hooked(everywhere()))
    calls()
    result = stack.run("update", lambda: None)
    assert result.outcome == "failed"
    assert "the hook 'before_delete' (before_delete), which the program does not register" in errors(result)
    assert calls() == []
    assert "a" in stack.resources()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_components_after_hooks_follow_its_outputs(stack: Stack) -> None:
    calls()

    class Group(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("tests:index:Group", "group", None, pulumi.ResourceOptions(hooks=everywhere()))
            a = Thing(Recording(), "a", {}, pulumi.ResourceOptions(parent=self))
            self.register_outputs({"done": a.id})

    stack.up(lambda: Group() and None)
    assert calls() == ["before_create", "create", "after_create"]


class Failing(Recording):
    """Fails twice."""

    def create(self, props: dict[str, Any]) -> CreateResult:
        super().create(props)
        if len(self.calls) < 3:
            raise ConnectionError(f"try {len(self.calls)}")
        return CreateResult("made", dict(props))


def failing(answer: Any) -> None:
    hook = pulumi.ErrorHook("again", answer)
    opts = pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(on_error=[hook]))
    Thing(Failing(), "a", {"size": 1}, opts)


def test_an_operation_is_tried_again_for_as_long_as_an_error_hook_asks_for_it(stack: Stack) -> None:
    calls()
    told: list[Any] = []

    def again(args: pulumi.ErrorHookArgs) -> bool:
        told.append((args.failed_operation, args.name, args.new_inputs, args.errors))
        return True

    result = stack.up(lambda: failing(again))
    assert calls() == ["create"] * 3
    first, second = ("ConnectionError: try 1", "ConnectionError: try 2")
    assert told == [("create", "a", {"size": 1}, [first]), ("create", "a", {"size": 1}, [second, first])]
    assert len(result.messages("warning")) == 2
    assert stack.resources()["a"]["id"] == "made"


def test_an_error_hook_that_does_not_ask_for_it_changes_nothing(stack: Stack) -> None:
    calls()
    result = stack.run("update", lambda: failing(lambda _: False))
    assert calls() == ["create"]
    assert isinstance(result.exception, ConnectionError)


def test_an_async_error_hook_is_awaited(stack: Stack) -> None:
    calls()

    async def again(_: pulumi.ErrorHookArgs) -> bool:
        return True

    stack.up(lambda: failing(again))
    assert calls() == ["create"] * 3
