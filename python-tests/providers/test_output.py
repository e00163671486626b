"""What provider methods print or log stands on their resource."""

import asyncio
import io
import sys
import threading

import pulumi
import pytest
from kit import Echo, Thing
from pulumi.dynamic import CreateResult
from stacks import Stack

from maloko._current import CURRENT_CALL, ProviderCall
from maloko._run.printed_output import CallStream, told_by_resource


class Log:
    """Takes what would go to the engine."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int, str]] = []

    def log(self, urn: str, severity: int, message: str, _ephemeral: bool = False) -> None:
        self.lines.append((urn, severity, message))


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def under() -> io.StringIO:
    return io.StringIO()


def within(urn: str, work) -> None:
    token = CURRENT_CALL.set(ProviderCall(urn, "create"))
    try:
        work()
    finally:
        CURRENT_CALL.reset(token)


def test_a_printed_line_is_told_on_the_resource_of_the_call(log: Log, under: io.StringIO) -> None:
    stream = CallStream(under, log)
    within("a", lambda: print("one", 2, file=stream))
    print("outside", file=stream)
    assert log.lines == [("a", 4, "one 2")]
    assert under.getvalue() == "outside\n"


def test_a_carriage_return_ends_a_line_too(log: Log, under: io.StringIO) -> None:
    # Progress bars write one.
    stream = CallStream(under, log)
    within("a", lambda: stream.write("10 %\r20 %\r\ndone\n"))
    assert [line for *_, line in log.lines] == ["10 %", "20 %", "done"]


def test_lines_of_calls_that_run_at_a_time_stay_whole(log: Log, under: io.StringIO) -> None:
    stream = CallStream(under, log)
    barrier = threading.Barrier(2)

    def work(urn: str) -> None:
        for number in range(50):
            barrier.wait()
            print(urn, number, file=stream)

    threads = [threading.Thread(target=within, args=(urn, lambda urn=urn: work(urn))) for urn in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for urn in "ab":
        assert [line for of, _, line in log.lines if of == urn] == [f"{urn} {number}" for number in range(50)]


def test_what_is_begun_is_told_when_it_is_flushed_or_at_the_end(log: Log, under: io.StringIO) -> None:
    stream = CallStream(under, log)
    within("a", lambda: print("10%", end="\r", file=stream))
    within("a", lambda: print("20%", end="", flush=True, file=stream))
    within("b", lambda: stream.writelines(["never ", "ended"]))
    stream.finish()
    assert [line for _, _, line in log.lines] == ["10%", "20%", "never ended"]


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_async_methods_print_on_their_resource_too(log: Log, under: io.StringIO) -> None:
    stream = CallStream(under, log)

    async def method(urn: str) -> None:
        await asyncio.sleep(0)
        print("from", urn, file=stream)

    async def both() -> None:
        tasks = []
        for urn in "ab":
            within(urn, lambda urn=urn: tasks.append(asyncio.ensure_future(method(urn))))
        await asyncio.gather(*tasks)

    asyncio.run(both())
    assert sorted(log.lines) == [("a", 4, "from a"), ("b", 4, "from b")]


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_the_streams_are_put_back_unless_the_program_put_its_own_there(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sys.stdout, sys.stderr
    with told_by_resource(log):
        assert isinstance(sys.stdout, CallStream)
        assert isinstance(sys.stderr, CallStream)
        own = io.StringIO()
        monkeypatch.setattr(sys, "stderr", own)
    assert sys.stdout is before[0]
    assert sys.stderr is own


# In Python alone: sys.stdout is an object that anybody may replace, and pdb reads from the terminal
def test_a_debugger_can_have_the_terminal(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALOKO_CAPTURE", "0")
    before = sys.stdout
    with told_by_resource(log):
        assert sys.stdout is before


def test_a_message_of_a_provider_method_is_on_its_resource(stack: Stack) -> None:
    class Talking(Echo):
        def create(self, props):
            pulumi.log.warn("mind the gap")
            return CreateResult("made", dict(props))

    result = stack.up(lambda: Thing(Talking(), "talker") and None)
    assert [
        (severity, urn.rsplit("::", 1)[-1]) for severity, urn, text in result.diagnostics if text == "mind the gap"
    ] == [("warning", "talker")]
