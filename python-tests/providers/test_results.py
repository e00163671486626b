"""What provider methods may say beyond plain results, how often they are called, and what they learn of their call."""

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pulumi
import pytest
from cli import Project, begin, wait_for
from kit import Echo, Thing
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, ResourceProvider, UpdateResult
from stacks import Stack

import maloko

SECRET = "1b47061264138c4ac30d75fd1eb44270"
SIGNATURE = "4dabf18193072939515e22adb298388d"


def secret(plaintext: str) -> dict[str, str]:
    """A secret as the exported state shows it."""
    return {SIGNATURE: SECRET, "plaintext": plaintext}


class Keeping(ResourceProvider):
    """Returns secrets at several places, in every method that returns outputs."""

    def outs(self, n):
        hush = pulumi.Output.secret
        return {"plain": n, "top": hush(f"t{n}"), "deep": {"open": 1, "in": hush({"x": n})}, "list": ["a", hush("b")]}

    def create(self, props):
        return CreateResult("made", self.outs(1))

    def diff(self, _id, olds, news):
        self.olds = olds
        return DiffResult(changes=olds["plain"] != news["n"])

    def update(self, _id, _olds, news):
        return UpdateResult(self.outs(int(news["n"])))

    def read(self, id_, props):
        return ReadResult(id_, self.outs(9))


def kept(stack: Stack) -> dict:
    outputs = dict(stack.resources()["a"]["outputs"])
    outputs.pop("__provider", None)
    return outputs


def test_secrets_in_results_are_secret_at_their_own_places(stack: Stack) -> None:
    def expected(n):
        return {
            "plain": n,
            "top": secret(f'"t{n}"'),
            "deep": {"open": 1, "in": secret(f'{{"x":{n}}}')},
            "list": ["a", secret('"b"')],
        }

    provider = Keeping()
    stack.up(lambda: Thing(provider, "a", {"n": 1}))
    assert kept(stack) == expected(1)
    stack.up(lambda: Thing(provider, "a", {"n": 2}))
    assert kept(stack) == expected(2)
    assert provider.olds == {"plain": 1, "top": "t1", "deep": {"open": 1, "in": {"x": 1}}, "list": ["a", "b"]}
    stack.refresh(lambda: Thing(provider, "a", {"n": 2}))
    assert kept(stack) == expected(9)


def test_the_program_sees_secrets_of_results_as_secrets(stack: Stack) -> None:
    class Declared(Thing):
        top: pulumi.Output[str]
        plain: pulumi.Output[int]

    def program() -> None:
        thing = Declared(Keeping(), "a", {"n": 1, "top": None, "plain": None})
        pulumi.export("top", thing.top)
        pulumi.export("plain", thing.plain)

    stack.up(program)
    root = next(
        resource for resource in stack.export()["deployment"]["resources"] if resource["type"] == "pulumi:pulumi:Stack"
    )
    assert root["outputs"] == {"top": secret('"t1"'), "plain": 1}


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_async_methods_may_return_secrets(stack: Stack) -> None:
    class Async(ResourceProvider):
        async def create(self, props):
            await asyncio.sleep(0)
            return CreateResult("made", {"key": pulumi.Output.secret("hush")})

    stack.up(lambda: Thing(Async(), "a"))
    assert kept(stack) == {"key": secret('"hush"')}


def test_a_failure_in_part_keeps_object_and_secrets_and_is_tried_again(stack: Stack) -> None:
    calls = []

    class Starting(ResourceProvider):
        def create(self, props):
            calls.append("create")
            raise maloko.PartialFailure("half", {"key": pulumi.Output.secret("k"), "n": 1}, ["no answer"])

        def update(self, id_, olds, news):
            calls.append("update")
            if len(calls) == 2:
                raise maloko.PartialFailure(id_, {"n": 2}, ["still none", "at all"])
            return UpdateResult({"n": 3})

    def program() -> None:
        Thing(Starting(), "a", {"size": 1})

    assert stack.run("update", program).outcome == "failed"
    resource = stack.resources()["a"]
    assert (resource["id"], resource["initErrors"], kept(stack)) == (
        "half",
        ["no answer"],
        {"key": secret('"k"'), "n": 1},
    )
    assert stack.run("update", program).outcome == "failed"
    assert (stack.resources()["a"]["initErrors"], kept(stack)) == (["still none", "at all"], {"n": 2})
    assert stack.run("update", program).outcome == "succeeded"
    assert (stack.resources()["a"].get("initErrors"), kept(stack)) == (None, {"n": 3})
    assert calls == ["create", "update", "update"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_read_that_fails_in_part_keeps_what_it_saw_and_the_object_is_updated(stack: Stack) -> None:
    class Ailing(Echo):
        def read(self, id_, props):
            raise maloko.PartialFailure(id_, {**props, "health": "poor"}, ["it does not answer"])

    def program() -> None:
        Thing(Ailing(), "a", {"size": 1})

    stack.up(program)
    result = stack.run("refresh", program)
    assert "it does not answer" in "".join(result.messages("warning"))
    assert stack.resources()["a"]["initErrors"] == ["it does not answer"]
    assert kept(stack) == {"size": 1, "health": "poor"}
    assert stack.up(program).changes.get("update") == 1


def test_calls_of_a_class_run_at_most_so_many_at_a_time(stack: Stack) -> None:
    running, most = [], []

    class Limited(Echo):
        max_concurrency = 1

        def create(self, props):
            running.append(self)
            most.append(len(running))
            met.wait(30)
            running.remove(self)
            return super().create(props)

    class Other(Echo):
        def create(self, props):
            arrived.release()
            return super().create(props)

    met, arrived = threading.Event(), threading.Semaphore(0)
    stack.parallel = 3

    class Last(Echo):
        def create(self, props):
            for _ in range(3):
                assert arrived.acquire(timeout=30)
            met.set()
            return super().create(props)

    # Two that wait for their class leave room for all others, although only three calls run at a time.
    def program() -> None:
        for n in range(3):
            Thing(Limited(), f"limited{n}")
        for n in range(3):
            Thing(Other(), f"other{n}")
        Thing(Last(), "last")

    stack.up(program)
    assert most == [1, 1, 1]


def test_classes_of_one_name_have_limits_of_their_own(stack: Stack) -> None:
    meet = threading.Barrier(2)

    class Limited(Echo):
        max_concurrency = 1

        def create(self, props):
            meet.wait(30)
            return super().create(props)

    other = type(
        "Limited", (Limited,), {"__module__": "other", "__qualname__": Limited.__qualname__, "max_concurrency": 1}
    )

    def program() -> None:
        Thing(Limited(), "one")
        Thing(other(), "other")

    assert stack.run("update", program).outcome == "succeeded"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_calls_of_a_class_are_spaced_and_a_run_that_failed_does_not_wait(stack: Stack) -> None:
    made = threading.Event()

    class Spaced(Echo):
        min_interval = 3600

        def create(self, props):
            made.set()
            return super().create(props)

    class Failing(Echo):
        def create(self, props):
            assert made.wait(30)
            raise ValueError("no more")

    def program() -> None:
        for n in range(3):
            Thing(Spaced(), f"spaced{n}")
        Thing(Failing(), "failing")

    assert stack.run("update", program).outcome == "failed"
    assert len(stack.resources()) == 1


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"max_concurrency": 0}, "max_concurrency of Odd is 0; it must be a whole number above 0"),
        ({"min_interval": "1s"}, "min_interval of Odd is '1s'; it must be a number of seconds"),
    ],
)
def test_limits_that_are_none_are_errors_that_name_the_class(stack: Stack, members, reason) -> None:
    result = stack.run("update", lambda: Thing(type("Odd", (Echo,), members)(), "a"))
    assert result.outcome == "failed"
    assert reason in "\n".join([str(result.error), *(text for *_, text in result.diagnostics)])


def test_a_method_learns_which_call_it_is_and_that_it_took_too_long(stack: Stack) -> None:
    seen = []

    class Slow(Echo):
        def create(self, props):
            call = maloko.current_call()
            seen.append((call.urn.rsplit("::", 1)[1], call.method, call.cancelled.wait(30)))
            return super().create(props)

    opts = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="50ms"))
    result = stack.run("update", lambda: Thing(Slow(), "a", {}, opts))
    assert result.outcome == "failed"
    assert seen == [("a", "create", True)]
    outside = maloko.current_call()
    assert (outside.urn, outside.method, outside.cancelled.is_set()) == ("", "", False)


# In Python alone: threads: a Node program and its providers have one
def test_what_threads_of_a_method_say_is_on_its_resource(stack: Stack) -> None:
    stack.config["place"] = "here"
    pool = ThreadPoolExecutor(1)

    class Threading(Echo):
        def create(self, props):
            found = []

            def work() -> None:
                pulumi.log.info(f"from a thread of {props['n']}")
                found.append(f"{pulumi.Config().require('place')}-{pulumi.get_stack()}-{pulumi.get_project()}")

            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            pool.submit(work).result()
            assert found == ["here-dev-project"] * 2
            return super().create(props)

    result = stack.up(lambda: [Thing(Threading(), n, {"n": n}) for n in ("a", "b")])
    pool.shutdown()
    said = [(urn.rsplit("::", 1)[1], text) for _, urn, text in result.diagnostics if "from a thread" in text]
    assert sorted(said) == [(n, f"from a thread of {n}") for n in ("a", "a", "b", "b")]


CANCELLED = """
import asyncio, pathlib
import pulumi, maloko
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Waiting(ResourceProvider):
    def create(self, props):
        pathlib.Path("sync").touch()
        assert maloko.current_call().cancelled.wait(60)
        return CreateResult("ended", {})

class Tasked(ResourceProvider):
    async def create(self, props):
        pathlib.Path("async").touch()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pathlib.Path("cleaned").touch()
            raise

class Thing(Resource):
    pass

Thing(Waiting(), "waiting", {})
Thing(Tasked(), "tasked", {})
"""


def test_cancelling_a_run_reaches_the_methods(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("__main__.py", CANCELLED)
    project.run("stack", "init", "dev")
    running = begin(project, "up", "--yes", "--skip-preview")
    for mark in ("sync", "async"):
        wait_for(tmp_path / mark)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode != 0, said
    assert (tmp_path / "cleaned").exists()
    assert "it was cancelled before it ended; what it has done is not known" in said
    assert '"id":"ended"' in project.state()
    assert "pending_operations" in project.state()
