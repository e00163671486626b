"""What raises in the program or in a provider comes out as it went in."""

import asyncio
import sys
import threading
import traceback
from typing import Any, ClassVar

import pulumi
import pytest
from kit import Echo, Recording, Thing, nothing
from pulumi.dynamic import ResourceProvider
from stacks import Stack

from maloko._process.tracebacks import format_error


class RefusedByServerError(Exception):
    pass


class Raising(ResourceProvider):
    def __init__(self, error):
        self.error = error

    def create(self, props):
        self.deeper()

    def deeper(self):
        raise self.error


def test_an_error_of_a_provider_is_raised_as_the_same_object(stack: Stack) -> None:
    error = RefusedByServerError("no")
    with pytest.raises(RefusedByServerError) as caught:
        stack.up(lambda: Thing(Raising(error), "a"))
    assert caught.value is error
    assert "deeper" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_the_message_names_the_resource_and_shows_the_users_frames_only(stack: Stack) -> None:
    result = stack.run("update", lambda: Thing(Raising(RefusedByServerError("no")), "a"))
    texts = [(urn, text) for severity, urn, text in result.diagnostics if severity == "error"]
    assert any(urn.endswith("::a") and "RefusedByServerError: no" in text for urn, text in texts)
    shown = "".join(text for _, text in texts)
    assert "deeper" in shown
    assert "maloko/_providers/calls.py" not in shown


@pytest.mark.parametrize(
    "error", [StopIteration("x"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
)
def test_no_exception_of_a_provider_hangs_or_ends_the_process(stack: Stack, error) -> None:
    result = stack.run("update", lambda: Thing(Raising(error), "a"))
    assert result.outcome == "failed"
    assert result.exception is error


# In Python alone: asyncio beside calls that block: in Node everything is awaited
@pytest.mark.parametrize("error", [StopIteration("x"), SystemExit(3), KeyboardInterrupt(), ValueError("x")])
def test_no_exception_of_an_async_method_hangs_or_ends_the_process(stack: Stack, error) -> None:
    class Async(ResourceProvider):
        async def create(self, props):
            await asyncio.sleep(0)
            raise error

    result = stack.run("update", lambda: Thing(Async(), "a"))
    assert result.outcome == "failed"


def test_an_error_of_the_program_is_raised_as_the_same_object(stack: Stack) -> None:
    error = RefusedByServerError("import")

    def program() -> None:
        Thing(Echo(), "a")
        raise error

    with pytest.raises(RefusedByServerError) as caught:
        stack.up(program)
    assert caught.value is error


def test_an_error_in_an_apply_fails_the_program(stack: Stack) -> None:
    def program() -> None:
        def fail(_id):
            raise RefusedByServerError("in apply")

        Thing(Echo(), "a").id.apply(fail)

    with pytest.raises(RefusedByServerError, match="in apply"):
        stack.up(program)


def test_an_asynchronous_program_that_raises_fails(stack: Stack) -> None:
    async def main():
        await asyncio.sleep(0)
        raise RefusedByServerError("async")

    with pytest.raises(RefusedByServerError, match="async"):
        stack.up(main)


# In Python alone: signals and sys.exit are exceptions, which have a class and can be caught
def test_sys_exit_0_is_success_and_another_code_is_not(stack: Stack) -> None:
    def program(code):
        def run() -> None:
            raise SystemExit(code)

        return run

    assert stack.run("update", program(0)).outcome == "succeeded"
    assert stack.run("update", program(None)).outcome == "succeeded"
    result = stack.run("update", program(3))
    assert result.outcome == "failed"
    assert "sys.exit(3)" in (result.error or "")


# In Node: a run error is shown without a stack
def test_a_run_error_is_shown_without_a_traceback(stack: Stack) -> None:
    def program() -> None:
        raise pulumi.RunError("set the region first")

    assert stack.run("update", program).error == "set the region first"


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_failure_does_not_stop_what_is_in_flight(stack: Stack) -> None:
    import threading

    failed = threading.Event()

    class Slow(ResourceProvider):
        def create(self, props):
            assert failed.wait(30)
            return pulumi.dynamic.CreateResult("slow", {})

    class Failing(ResourceProvider):
        def create(self, props):
            try:
                raise RefusedByServerError("no")
            finally:
                threading.Timer(0.05, failed.set).start()

    result = stack.run("update", lambda: [Thing(Slow(), "slow"), Thing(Failing(), "failing")])
    assert result.outcome == "failed"
    assert "slow" in stack.resources()


# In Python alone: threads: a Node program and its providers have one
def test_a_dynamic_resource_outside_of_the_run_is_refused(stack: Stack) -> None:
    import threading

    raised = []

    def outside() -> None:
        # Where another test has set the SDK's mocks, a new thread would find those.
        pulumi.runtime.settings.SETTINGS.monitor = None
        try:
            Thing(Echo(), "stray")
        except Exception as error:
            raised.append(error)

    def program() -> None:
        thread = threading.Thread(target=outside)
        thread.start()
        thread.join()

    stack.up(program)
    assert "outside of a run" in str(raised[0])
    assert stack.resources() == {}


def caused(error: BaseException, cause: BaseException | None, context: BaseException | None = None) -> BaseException:
    error.__cause__, error.__context__ = cause, context
    return error


GONE = ConnectionError("no route to 127.0.0.1")
CHAINED = {
    "a cause": (
        caused(ValueError("no quota"), GONE),
        "ValueError: no quota (caused by ConnectionError: no route to 127.0.0.1)",
    ),
    "the cause of a cause": (
        caused(ValueError("outer"), caused(KeyError("middle"), GONE)),
        "ValueError: outer (caused by KeyError: 'middle'; ConnectionError: no route to 127.0.0.1)",
    ),
    "a cause that is told": (caused(ValueError(f"no: {GONE}"), GONE), f"ValueError: no: {GONE}"),
    # Without `from` it is not said that one comes from the other.
    "a context": (caused(ValueError("no quota"), None, GONE), "ValueError: no quota"),
}
if sys.version_info >= (3, 11):
    members = [ValueError(text) for text in ("one", "two", "three", "four")]
    CHAINED["a group"] = (
        ExceptionGroup("several", members[:2]),  # noqa: F821 only defined where it exists
        "ExceptionGroup: several (2 sub-exceptions) (caused by ValueError: one; ValueError: two)",
    )
    CHAINED["a large group"] = (
        ExceptionGroup("several", members),  # noqa: F821 only defined where it exists
        "ExceptionGroup: several (4 sub-exceptions) (caused by ValueError: one; ValueError: two; ValueError: three)",
    )


@pytest.mark.parametrize("name", CHAINED)
def test_the_first_line_of_an_error_tells_what_caused_it(stack: Stack, name: str) -> None:
    error, said = CHAINED[name]
    result = stack.run("update", lambda: Thing(Raising(error), "a"))
    shown = [text for severity, urn, text in result.diagnostics if severity == "error" and urn.endswith("::a")]
    assert shown[0].splitlines()[0] == said
    assert result.exception is error


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
@pytest.mark.parametrize("compute", ["concat", "format", "json_dumps", "json_loads"])
def test_errors_in_outputs_that_the_sdk_computes_name_the_line(stack: Stack, compute: str) -> None:
    def program() -> None:
        text = pulumi.Output.from_input("no json")
        made = {
            "concat": lambda: pulumi.Output.concat(text, object()),  # type: ignore[arg-type]
            "format": lambda: pulumi.Output.format("{0} {missing}", text),
            "json_dumps": lambda: pulumi.Output.json_dumps({"a": text, "b": object()}),
            "json_loads": lambda: pulumi.Output.json_loads(text),
        }
        Thing(Echo(), "a", {"v": made[compute]()})

    said = format_error(stack.run("update", program).exception or AssertionError())
    assert f"pulumi.Output.{compute}(" in said
    assert "site-packages" not in said


# In Python alone: types at run time: ints, bytes, dataclasses; assets, which Pulumi's Node server hands over as data
def test_a_second_registration_of_outputs_is_an_error_that_says_so(stack: Stack) -> None:
    class Twice(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("tests:index:Twice", "twice")
            self.register_outputs({"first": 1})
            self.register_outputs({"second": 2})

    result = stack.run("update", Twice)
    assert "'urn:pulumi:dev::project::tests:index:Twice::twice' are registered a second time" in str(result.exception)
    assert stack.resources()["twice"]["outputs"] == {"first": 1}


# After the end of the program.


class Slow(Recording):
    """Its deletion goes on until a resource is being registered that the program did not wait for."""

    began: ClassVar[threading.Event] = threading.Event()
    late: ClassVar[threading.Event] = threading.Event()

    def delete(self, id_: str, props: dict[str, Any]) -> None:
        self.began.set()
        assert self.late.wait(60)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_resource_that_is_registered_when_deletions_have_begun_is_refused(stack: Stack) -> None:
    def first() -> None:
        Thing(Recording(), "victim", {"size": 1})
        Thing(Slow(), "slow", {"size": 1})

    def is_being_registered(_args: pulumi.ResourceTransformArgs) -> None:
        Slow.late.set()

    async def later() -> None:
        await asyncio.get_running_loop().run_in_executor(None, Slow.began.wait, 60)
        opts = pulumi.ResourceOptions(transforms=[is_being_registered])
        Thing(Recording(), "victim", {"size": 1}, opts)

    def second() -> None:
        tasks.append(asyncio.ensure_future(later()))

    tasks: list[asyncio.Future[None]] = []
    stack.up(first)
    result = stack.run("update", second)
    assert result.outcome == "failed"
    assert "it was registered after the program had ended" in "".join(result.messages("error"))
    assert "same" not in {op for op, urn in result.steps if urn.endswith("::victim")}
    # On a busy machine the other deletion may not have begun when the refusal comes, and then it does not.
    deleted = {urn.rpartition("::")[2] for op, urn in result.steps if op == "delete"}
    assert "slow" in deleted
    assert stack.resources().keys() == {"victim", "slow"} - deleted
    assert stack.up(nothing).outcome == "succeeded"
