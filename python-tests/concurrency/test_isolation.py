"""Many stacks in one process, and nothing left behind."""

import asyncio
import contextlib
import contextvars
import gc
import socket
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pulumi
from kit import Echo, Thing
from pulumi.dynamic import ResourceProvider
from stacks import Stack


def named(stack: Stack):
    def program() -> None:
        thing = Thing(Echo(), "a", {"stack": pulumi.get_stack(), "value": pulumi.Config().require("value")})
        pulumi.export("seen", thing.value.apply(lambda value: f"{pulumi.get_stack()}-{value}"))

    return program


def test_stacks_run_side_by_side_without_mixing(stack: Stack) -> None:
    stacks = [Stack(name=f"s{n}", config={"value": f"v{n}"}) for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda one: one.up(named(one)), stacks))
    assert all(result.outcome == "succeeded" for result in results)
    for number, one in enumerate(stacks):
        inputs = one.resources()["a"]["inputs"]
        assert (inputs["stack"], inputs["value"]) == (f"s{number}", f"v{number}")


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_a_run_works_where_an_event_loop_is_running(stack: Stack) -> None:
    async def main():
        return stack.up(lambda: Thing(Echo(), "a"))

    assert asyncio.run(main()).outcome == "succeeded"


def test_no_socket_listens_during_a_run(stack: Stack) -> None:
    listening = []
    original = socket.socket.listen

    def listen(self, *args):
        listening.append(self)
        return original(self, *args)

    def program() -> None:
        Thing(Echo(), "a")
        lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
        listening.extend(line for line in lines if line.split()[3] == "0A" and own(line))

    def own(line: str) -> bool:
        links = []
        for descriptor in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                links.append(str(descriptor.readlink()))
        return f"socket:[{line.split()[9]}]" in links

    socket.socket.listen = listen
    try:
        stack.up(program)
    finally:
        socket.socket.listen = original
    assert listening == []


def test_the_seams_are_out_of_the_way_after_a_run(stack: Stack) -> None:
    import pulumi.dynamic.dynamic as dynamic

    before = (dynamic.serialize_provider, pulumi.Output.get, gc.get_threshold(), pulumi.log.debug)
    stack.up(lambda: Thing(Echo(), "a"))
    assert (dynamic.serialize_provider, pulumi.Output.get, gc.get_threshold(), pulumi.log.debug) == before


# In Python alone: threads: a Node program and its providers have one
def test_a_bare_thread_never_sees_another_runs_monitor(stack: Stack) -> None:
    seen = []

    def program() -> None:
        thread = threading.Thread(target=lambda: seen.append(pulumi.runtime.settings.get_monitor()))
        thread.start()
        thread.join()
        Thing(Echo(), "a")

    stack.up(program)
    thread = threading.Thread(target=lambda: seen.append(pulumi.runtime.settings.get_monitor()))
    thread.start()
    thread.join()
    assert seen == [None, None]


def test_provider_objects_are_let_go_after_a_run(stack: Stack) -> None:
    class Large(Echo):
        pass

    before = ours()
    provider = Large()
    alive = weakref.ref(provider)
    stack.up(lambda p=provider: Thing(p, "a"))
    del provider
    # A thread that is about to end may hold what it called last.
    for thread in ours() - before:
        thread.join(timeout=60)
    for _ in range(3):
        gc.collect()
    assert alive() is None


def ours() -> set[threading.Thread]:
    """The engine's threads. Those of another test's runs may sit in methods that were given up."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("maloko")}


# In Python alone: threads: a Node program and its providers have one
def test_threads_end_with_the_run(stack: Stack) -> None:
    class Waiting(ResourceProvider):
        def create(self, props):
            return pulumi.dynamic.CreateResult("x", {})

    before = ours()
    stack.up(lambda: [Thing(Waiting(), f"r{n}") for n in range(20)])
    for thread in ours() - before:
        thread.join(timeout=60)
    assert ours() <= before


def test_mocks_still_work_after_a_run(stack: Stack) -> None:
    stack.up(lambda: Thing(Echo(), "a"))

    class Mocks(pulumi.runtime.Mocks):
        def new_resource(self, args):
            return [f"{args.name}_id", args.inputs]

        def call(self, args):
            return {}

    async def mocked() -> None:
        pulumi.runtime.set_mocks(Mocks())
        thing = Thing(Echo(), "mocked")
        assert await thing.id.future() == "mocked_id"

    loop = asyncio.SelectorEventLoop()
    try:
        contextvars.copy_context().run(loop.run_until_complete, mocked())
    finally:
        loop.close()


def test_another_stacks_failure_is_its_own(stack: Stack) -> None:
    class Failing(ResourceProvider):
        def create(self, props):
            raise ValueError("mine")

    other = Stack(name="other")
    with ThreadPoolExecutor(2) as pool:
        failed = pool.submit(stack.run, "update", lambda: Thing(Failing(), "a"))
        fine = pool.submit(other.run, "update", lambda: [Thing(Echo(), f"r{n}") for n in range(50)])
    assert failed.result().outcome == "failed"
    assert fine.result().outcome == "succeeded"


def test_what_a_module_registered_that_does_not_run_again_is_not_deleted(stack: Stack, tmp_path: Path) -> None:
    import importlib

    (tmp_path / "net_of_a_test.py").write_text("from kit import Echo, Thing\nThing(Echo(), 'net')\n")
    sys.path.insert(0, str(tmp_path))

    def program() -> None:
        importlib.import_module("net_of_a_test")
        Thing(Echo(), "app")

    try:
        stack.up(program)
        assert set(stack.resources()) == {"net", "app"}
        again = stack.run("update", program)
        assert again.outcome == "failed"
        said = "".join(text for severity, urn, text in again.diagnostics if severity == "error" and "::net" in urn)
        assert "the body of module 'net_of_a_test' registers it" in said
        assert "Nothing is deleted" in said
        assert set(stack.resources()) == {"net", "app"}
        assert stack.run("update", program, dry_run=True).outcome == "failed"

        def reloading() -> None:
            importlib.reload(sys.modules["net_of_a_test"])
            Thing(Echo(), "app")

        assert stack.up(reloading).changes == {"same": 3}
        # Without the module, the program no longer has the resource.
        del sys.modules["net_of_a_test"]
        stack.up(lambda: Thing(Echo(), "app"))
        assert set(stack.resources()) == {"app"}
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("net_of_a_test", None)


def test_what_a_module_registered_that_was_collected_as_garbage_holds_nothing_back(
    stack: Stack, tmp_path: Path
) -> None:
    import importlib

    (tmp_path / "net_of_a_garbage_test.py").write_text("from kit import Echo, Thing\nThing(Echo(), 'net')\n")
    sys.path.insert(0, str(tmp_path))

    def program() -> None:
        importlib.import_module("net_of_a_garbage_test")
        del sys.modules["net_of_a_garbage_test"]

    try:
        stack.up(program)
        gc.collect()
        stack.up(lambda: Thing(Echo(), "app"))
        assert set(stack.resources()) == {"app"}
    finally:
        sys.path.remove(str(tmp_path))


def test_a_destroy_deletes_what_a_module_registered_too(stack: Stack, tmp_path: Path) -> None:
    import importlib

    (tmp_path / "net_of_another_test.py").write_text("from kit import Echo, Thing\nThing(Echo(), 'net')\n")
    sys.path.insert(0, str(tmp_path))

    def program() -> None:
        importlib.import_module("net_of_another_test")

    try:
        stack.up(program)
        stack.destroy(program)
        assert stack.resources() == {}
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("net_of_another_test", None)


FIRST_IN_A_THREAD = """
import sys, threading
sys.path.insert(0, {support!r})

def first():
    from stacks import Stack
    Stack()

def later():
    import pulumi
    from stacks import Stack
    print(Stack().up(lambda: pulumi.export("n", 1)).outcome)

for work in (first, later, later):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_the_native_module_outlives_the_thread_that_loaded_it() -> None:
    """Allocators keep things per thread: the first one's must not be what the others lean on."""
    script = FIRST_IN_A_THREAD.format(support=str(Path(__file__).parents[1] / "support"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "succeeded\nsucceeded\n"), done.stderr
