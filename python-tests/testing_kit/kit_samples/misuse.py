"""Tests that fail, each for a reason that pytest has to report: for test_kit_misuse.py."""

import asyncio
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult

QUIET = 0.2


class Provider(ResourceProvider):
    def __init__(self, things: dict[str, Any]) -> None:
        self.things = things

    def create(self, props: dict[str, Any]) -> CreateResult:
        self.things["made"] = props
        return CreateResult("made", props)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        return UpdateResult(news)


class Stubborn(Provider):
    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        raise RuntimeError("the bucket is not empty")


class Thing(Resource):
    def __init__(self, name: str, props: dict[str, Any], provider: ResourceProvider | None = None) -> None:
        super().__init__(provider or Provider({}), name, props)


def program() -> None:
    Thing("b", {"n": 1})


def test_an_operation_is_not_awaited(maloko):
    maloko.stack(program).aio.up()


def test_an_operation_begins_while_another_goes_on(maloko):
    class Nested(Provider):
        def create(self, props):
            s.preview()
            return super().create(props)

    s = maloko.stack(lambda: Thing("b", {}, Nested({})) and None)
    s.up()


def test_a_promise_is_compared_with_a_plan(maloko):
    assert maloko.stack(program).aio.preview() == {"b": "create"}


def test_something_else_is_compared_with_a_plan(maloko):
    assert maloko.stack(program).preview() == ["create"]


def test_a_plan_is_not_as_expected(maloko):
    def several():
        for name, n in pulumi.Config().require_object("numbers").items():
            Thing(name, {"n": n})

    s = maloko.stack(several, config={"numbers": {"a": 1, "b": 1, "c": 1}})
    s.up()
    s.set(numbers={"a": 2, "b": 2})
    assert s.preview() == {"a": "replace", "c": "create"}


def test_a_provider_has_no_create(maloko):
    class Empty(ResourceProvider):
        pass

    maloko.stack(Empty)


def test_what_is_under_test_is_no_program(maloko):
    maloko.stack("program")


def test_a_program_never_ends(maloko):
    async def never():
        await asyncio.get_running_loop().create_future()

    maloko.stack(never, quiet=QUIET).up()


def test_an_input_never_comes(maloko):
    maloko.stack(lambda: Thing("b", {"n": asyncio.get_event_loop().create_future()}) and None, quiet=QUIET).up()


KEPT = []


def test_a_stack_is_kept(maloko):
    KEPT.append(maloko.stack(program))


def test_a_stack_is_used_after_its_test():
    KEPT[0].preview()


def test_a_failure_is_not_expected(maloko):
    class Full(Provider):
        def create(self, props):
            raise RuntimeError("quota")

    maloko.stack(lambda: Thing("b", {}, Full({})) and None).up()


def test_an_object_is_left_in_the_world(maloko):
    world: dict[str, Any] = {}
    maloko.stack(lambda: Thing("b", {}, Provider(world)) and None, world=world).up()


def test_a_resource_cannot_be_deleted(maloko):
    maloko.stack(lambda: Thing("b", {}, Stubborn({})) and None).up()
