"""Transforms alter registrations before they are planned: within the process, in their order, with live values."""

import asyncio
from typing import Any

import pulumi
import pytest
from kit import Echo, Recording, Thing
from stacks import Stack


def appending(letter: str) -> pulumi.ResourceTransform:
    """Appends a letter to the property `text` of custom resources."""

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if not args.custom:
            return None
        return pulumi.ResourceTransformResult({**args.props, "text": f"{args.props['text']}{letter}"}, args.opts)

    return transform


class Group(pulumi.ComponentResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tests:index:Group", name, None, opts)


def with_transforms(
    *transforms: pulumi.ResourceTransform, parent: pulumi.Resource | None = None
) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(transforms=list(transforms), parent=parent)


def test_a_resources_own_transforms_come_first_then_its_ancestors_then_the_stacks(stack: Stack) -> None:
    def program() -> None:
        pulumi.runtime.register_resource_transform(appending("s"))
        outer = Group("outer", with_transforms(appending("o")))
        inner = Group("inner", with_transforms(appending("i"), parent=outer))
        Thing(Echo(), "a", {"text": "-"}, with_transforms(appending("1"), appending("2"), parent=inner))
        Thing(Echo(), "b", {"text": "-"})

    stack.up(program)
    assert stack.resources()["a"]["inputs"]["text"] == "-12ios"
    assert stack.resources()["b"]["inputs"]["text"] == "-s"


def test_a_transform_that_returns_nothing_changes_nothing(stack: Stack) -> None:
    stack.up(lambda: Thing(Recording(), "a", {"text": "-"}))
    result = stack.up(lambda: Thing(Recording(), "a", {"text": "-"}, with_transforms(lambda _: None)))
    assert result.changes == {"same": 2}


def test_an_async_transform_is_awaited(stack: Stack) -> None:
    async def slow(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        await asyncio.sleep(0)
        return pulumi.ResourceTransformResult({**args.props, "text": "slow"}, args.opts)

    def program() -> None:
        pulumi.runtime.register_resource_transform(slow)
        Thing(Echo(), "a", {"text": "-"})

    stack.up(program)
    assert stack.resources()["a"]["inputs"]["text"] == "slow"


def test_a_transform_is_told_the_type_the_name_and_the_parent_but_not_the_provider(stack: Stack) -> None:
    told: list[Any] = []

    def telling(args: pulumi.ResourceTransformArgs) -> None:
        told.append((args.custom, args.type_, args.name, sorted(args.props)))

    stack.up(lambda: Thing(Echo(), "a", {"text": "-"}, with_transforms(telling)))
    assert told == [(True, "pulumi-python:dynamic:Resource", "a", ["text"])]


def test_a_transform_changes_options_and_sees_what_is_inherited(stack: Stack) -> None:
    seen: list[Any] = []

    def protecting(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        seen.append(args.opts.protect)
        opts = pulumi.ResourceOptions.merge(
            args.opts, pulumi.ResourceOptions(additional_secret_outputs=["text"], aliases=[pulumi.Alias(name="before")])
        )
        return pulumi.ResourceTransformResult(args.props, opts)

    def program(name: str, *transforms: pulumi.ResourceTransform) -> None:
        group = Group("group", pulumi.ResourceOptions(protect=True))
        Thing(Recording(), name, {"text": "-"}, with_transforms(*transforms, parent=group))

    stack.up(lambda: program("before"))
    result = stack.up(lambda: program("a", protecting))
    assert seen == [True]
    assert result.changes == {"same": 3}
    resource = stack.resources()["a"]
    assert resource["protect"]
    assert resource["additionalSecretOutputs"] == ["text"]


def test_secrets_stay_secret_and_outputs_are_outputs_in_a_transform(stack: Stack) -> None:
    seen: dict[str, Any] = {}

    def looking(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        seen.update({key: isinstance(value, pulumi.Output) for key, value in args.props.items()})
        return pulumi.ResourceTransformResult({**args.props, "more": 1}, args.opts)

    class Made(Thing):
        text: pulumi.Output[str]

    def program() -> None:
        a = Made(Echo(), "a", {"text": "one"})
        props = {"plain": "x", "token": pulumi.Output.secret("hush"), "from": a.text}
        Thing(Echo(), "b", props, with_transforms(looking))

    stack.preview(program)
    stack.up(program)
    assert seen == {"plain": False, "token": True, "from": True}
    resource = stack.resources()["b"]
    assert resource["inputs"]["from"] == "one"
    assert resource["inputs"]["token"]["plaintext"] == '"hush"'
    assert resource["inputs"]["more"] == 1
    assert "replacementTrigger" not in resource
    assert [urn.rsplit("::", 1)[1] for urn in resource["dependencies"]] == ["a"]


def test_a_transform_that_raises_is_named_with_the_resource(stack: Stack) -> None:
    error = LookupError("no tags for you")

    def tagged(_: pulumi.ResourceTransformArgs) -> None:
        raise error

    result = stack.run("update", lambda: Thing(Echo(), "a", {}, with_transforms(tagged)))
    assert result.outcome == "failed"
    assert result.exception is error
    [(_, urn, text)] = [message for message in result.diagnostics if message[0] == "error"]
    assert urn.endswith("::a")
    assert text.startswith("a transform of 'a' failed: ")
    assert "tagged: LookupError: no tags for you" in text
    assert "test_transforms.py" in text
    assert "_callbacks.py" not in text


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_transform_that_fails_in_the_stack_is_named_as_such(stack: Stack) -> None:
    def program() -> None:
        def everywhere(_: pulumi.ResourceTransformArgs) -> None:
            raise LookupError("never")

        pulumi.runtime.register_resource_transform(everywhere)
        Thing(Echo(), "a", {})

    result = stack.run("update", program)
    assert any("a transform of the stack failed: " in text for text in result.messages("error"))


def test_a_function_call_is_transformed_too(stack: Stack) -> None:
    found: list[Any] = []

    def redirecting(args: pulumi.InvokeTransformArgs) -> pulumi.InvokeTransformResult:
        urn = args.args["urn"].replace("::wrong", "::a")
        return pulumi.InvokeTransformResult({**args.args, "urn": urn}, args.opts)

    async def program() -> None:
        pulumi.runtime.register_invoke_transform(redirecting)
        a = Thing(Echo(), "a", {"text": "found"})
        urn = await a.urn.future()
        assert urn is not None
        answer = await pulumi.runtime.invoke_async("pulumi:pulumi:getResource", {"urn": urn.replace("::a", "::wrong")})
        found.append(answer["state"]["text"])

    stack.up(program)
    assert found == ["found"]


def test_no_socket_is_opened_for_callbacks(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    import grpc.aio

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a server was started")

    monkeypatch.setattr(grpc.aio, "server", refuse)
    stack.up(lambda: Thing(Echo(), "a", {"text": "-"}, with_transforms(appending("x"))))
    assert stack.resources()["a"]["inputs"]["text"] == "-x"
