"""What the methods are called with, and on what."""

import asyncio
import threading

import pulumi
import pytest
from kit import Echo, Recording, Thing
from pulumi.dynamic import CheckResult, CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult
from stacks import Stack

from maloko._sdk.monitor import Monitor


@pytest.fixture(autouse=True)
def _fresh_calls() -> None:
    Recording.calls = []


def test_create_update_and_delete_get_what_they_always_got(stack: Stack) -> None:
    def program(value):
        return lambda: Thing(Recording(), "a", {"n": value, "none": None}) and None

    stack.up(program(1))
    stack.up(program(2))
    stack.destroy(program(2))
    assert Recording.calls == [
        ("create", {"n": 1.0}),
        ("diff", ({"n": 1.0}, {"n": 2.0})),
        ("update", ({"n": 1.0}, {"n": 2.0})),
        ("delete", ("made", {"n": 2.0})),
    ]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_preview_calls_check_and_diff_only(stack: Stack) -> None:
    stack.preview(lambda: Thing(Recording(), "a"))
    assert Recording.calls == []


def test_unknown_values_reach_check_as_the_sdk_has_them(stack: Stack) -> None:
    seen = []

    class Checking(Echo):
        def check(self, _olds, news):
            seen.append(news)
            return CheckResult(news, [])

    def program() -> None:
        first = Thing(Echo(), "first")
        Thing(Checking(), "second", {"of": first.id})

    stack.preview(program)
    assert isinstance(seen[0]["of"], pulumi.output.Unknown)


def test_every_call_gets_property_bags_of_its_own(stack: Stack) -> None:
    class Spoiling(ResourceProvider):
        def check(self, _olds, news):
            checked = {**news, "list": list(news["list"])}
            news["list"].append("spoilt")
            return CheckResult(checked, [])

        def create(self, props):
            outs = {"list": list(props["list"])}
            props["list"].append("spoilt")
            return CreateResult("x", outs)

    stack.up(lambda: Thing(Spoiling(), "a", {"list": ["kept"]}))
    assert stack.resources()["a"]["inputs"]["list"] == ["kept"]
    assert stack.resources()["a"]["outputs"]["list"] == ["kept"]


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_async_methods_share_one_loop_from_configure_on(stack: Stack) -> None:
    loops = []

    class Async(ResourceProvider):
        async def configure(self, req):
            self.event = asyncio.Event()
            loops.append(asyncio.get_running_loop())

        async def create(self, props):
            loops.append(asyncio.get_running_loop())
            asyncio.get_running_loop().call_soon(self.event.set)
            await self.event.wait()
            return CreateResult("async", dict(props))

        async def delete(self, id_, props):
            loops.append(asyncio.get_running_loop())

    provider = Async()
    stack.up(lambda: [Thing(provider, f"r{n}") for n in range(3)])
    assert len(loops) == 4
    assert len(set(loops)) == 1
    stack.destroy(lambda: [Thing(provider, f"r{n}") for n in range(3)])
    assert len(stack.resources()) == 0


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_async_methods_of_many_resources_run_at_the_same_time(stack: Stack) -> None:
    stack.parallel = 200

    class Meeting(ResourceProvider):
        def __init__(self, count):
            self.waiting = 0
            self.count = count

        async def configure(self, req):
            self.all_here = asyncio.Event()

        async def create(self, props):
            self.waiting += 1
            if self.waiting == self.count:
                self.all_here.set()
            await asyncio.wait_for(self.all_here.wait(), 30)
            return CreateResult("met", {})

    provider = Meeting(200)
    stack.up(lambda: [Thing(provider, f"r{n}") for n in range(200)])
    assert len(stack.resources()) == 200


# In Node: methods of many resources run at the same time up to parallel
# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_synchronous_methods_run_at_the_same_time_up_to_parallel(stack: Stack) -> None:
    barrier = threading.Barrier(16, timeout=30)

    class Meeting(ResourceProvider):
        def create(self, props):
            barrier.wait()
            return CreateResult("met", {})

    provider = Meeting()
    stack.up(lambda: [Thing(provider, f"r{n}") for n in range(16)])
    assert len(stack.resources()) == 16


# In Python alone: threads: a Node program and its providers have one
def test_methods_run_although_the_programs_event_loop_never_comes_to_rest(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It never says that it has nothing else to do.
    monkeypatch.setattr(Monitor, "_go_on", lambda _monitor: None)
    stack.up(lambda: [Thing(Recording(), f"r{n}") for n in range(20)])
    assert len(stack.resources()) == 20


def test_config_stack_name_and_log_work_inside_methods(stack: Stack) -> None:
    stack.config["place"] = "here"

    class Asking(ResourceProvider):
        def create(self, props):
            pulumi.log.info("from the provider")
            return CreateResult(f"{pulumi.Config().require('place')}-{pulumi.get_stack()}", {})

    result = stack.up(lambda: Thing(Asking(), "a"))
    assert stack.resources()["a"]["id"] == "here-dev"
    assert "from the provider" in result.messages("info")


# In Node: methods that a provider lacks are answered as the dynamic server does
def test_methods_that_a_class_lacks_are_answered_as_the_base_class_does(stack: Stack) -> None:
    stack.up(lambda: Thing(Echo(), "a", {"v": 1}))
    result = stack.up(lambda: Thing(Echo(), "a", {"v": 2}))
    assert result.changes["update"] == 1
    stack.destroy(lambda: Thing(Echo(), "a", {"v": 2}))
    assert stack.resources() == {}


def test_diff_answers_all_four_things(stack: Stack) -> None:
    class Replacing(Recording):
        def diff(self, _id, olds, news):
            return DiffResult(changes=True, replaces=["v"], stables=["s"], delete_before_replace=True)

    stack.up(lambda: Thing(Replacing(), "a", {"v": 1}))
    result = stack.up(lambda: Thing(Replacing(), "a", {"v": 2}))
    assert result.changes["replace"] == 1
    assert [method for method, _ in Recording.calls] == ["create", "delete", "create"]


def test_refresh_stores_what_read_says(stack: Stack) -> None:
    class Reading(Echo):
        def read(self, id_, props):
            return ReadResult(id_, {**props, "v": 7})

    program = lambda: Thing(Reading(), "a", {"v": 1})  # noqa: E731
    stack.up(program)
    stack.refresh(program)
    assert stack.resources()["a"]["outputs"]["v"] == 7


def test_refresh_forgets_what_read_does_not_find(stack: Stack) -> None:
    class Gone(Echo):
        def read(self, id_, props):
            return ReadResult(None, {})

    program = lambda: Thing(Gone(), "a")  # noqa: E731
    stack.up(program)
    stack.refresh(program)
    assert "a" not in stack.resources()


def test_an_update_without_outputs_is_allowed(stack: Stack) -> None:
    class Quiet(Echo):
        def update(self, _id, _olds, _news):
            return UpdateResult()

    stack.up(lambda: Thing(Quiet(), "a", {"v": 1}))
    result = stack.up(lambda: Thing(Quiet(), "a", {"v": 2}))
    assert result.outcome == "succeeded"
