"""Many stacks at once in one process, under the frameworks in which services run."""

import asyncio
import contextvars
import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pulumi
import pytest
import uvloop
from automation_kit import Echo, Thing, echo, new_stack, placed
from held import Held, settled
from night import by_day, rounds
from pulumi.dynamic import CreateResult

from maloko import automation as auto
from maloko._run.host import Host

STACKS = rounds(8, 20)
HERE = Path(__file__).parent
PATH = f"{HERE}{os.pathsep}{HERE.parent / 'support'}"
"""Where another process finds this module and what it imports."""


def own_program() -> None:
    """Exports what only this stack's run can know."""
    who = pulumi.Config().require("who")
    thing = Thing(Echo(), f"thing-{who}", {"text": who})
    pulumi.export("who", thing.text)
    pulumi.export("stack", pulumi.get_stack())
    pulumi.export("project", pulumi.get_project())


def own_stack(directory: Path, number: int) -> auto.Stack:
    options = placed(directory, work_dir=str(directory / f"work-{number}"))
    stack = auto.create_stack(f"stack-{number}", f"project-{number % 3}", own_program, opts=options)
    stack.set_config("who", auto.ConfigValue(f"number {number}"))
    return stack


def seen(result: auto.UpResult) -> dict[str, Any]:
    return {name: output.value for name, output in result.outputs.items()}


def expected(number: int) -> dict[str, str]:
    return {"who": f"number {number}", "stack": f"stack-{number}", "project": f"project-{number % 3}"}


def test_twenty_stacks_at_once_keep_apart(tmp_path: Path) -> None:
    meeting = threading.Barrier(STACKS)

    def work(number: int) -> dict[str, Any]:
        stack = own_stack(tmp_path, number)
        meeting.wait(120)
        return seen(stack.up())

    with ThreadPoolExecutor(STACKS) as pool:
        assert list(pool.map(work, range(STACKS))) == [expected(number) for number in range(STACKS)]


async def _twenty(directory: Path) -> None:
    stacks = [own_stack(directory, number) for number in range(STACKS)]
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    results = await asyncio.gather(*(stack.up_async() for stack in stacks))
    ticking.cancel()
    assert [seen(result) for result in results] == [expected(number) for number in range(STACKS)]
    assert ticks > STACKS, "the loop goes on meanwhile"


# In Python alone: asyncio beside calls that block: in Node everything is awaited
@pytest.mark.parametrize(
    "run",
    [pytest.param(asyncio.run, id="asyncio"), pytest.param(uvloop.run, id="uvloop", marks=pytest.mark.nightly)],
)
def test_twenty_stacks_are_awaited_at_once(run: Callable[[Coroutine[Any, Any, None]], None], tmp_path: Path) -> None:
    run(_twenty(tmp_path))


# In Python alone: asyncio beside calls that block: in Node everything is awaited
@pytest.mark.parametrize(
    "run", by_day([asyncio.run, uvloop.run], lambda _, place: place == 1), ids=["asyncio", "uvloop"]
)
def test_a_stack_may_be_called_where_an_event_loop_runs(
    run: Callable[[Coroutine[Any, Any, auto.UpResult]], auto.UpResult], tmp_path: Path
) -> None:
    async def main() -> auto.UpResult:
        return new_stack(tmp_path).up()

    assert run(main()).summary.result == "succeeded"


def test_a_program_may_drive_another_stack(tmp_path: Path) -> None:
    inner = own_stack(tmp_path / "inner", 1)
    awaited = own_stack(tmp_path / "awaited", 2)

    async def program() -> None:
        Thing(Echo(), "before")
        pulumi.export("inner", seen(inner.up())["who"])
        pulumi.export("awaited", seen(await awaited.up_async())["who"])
        Thing(Echo(), "after")

    result = new_stack(tmp_path / "outer", program).up()
    assert seen(result) == {"inner": "number 1", "awaited": "number 2"}
    assert result.summary.resource_changes == {"create": 3}


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_a_task_that_is_cancelled_cancels_its_operation(tmp_path: Path) -> None:
    began = threading.Event()

    class Slow(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            began.set()
            from maloko import current_call

            call = current_call()
            assert call is not None
            assert call.cancelled.wait(60)
            return super().create(props)

    def program() -> None:
        first = Thing(Slow(), "a", {"text": "1"})
        Thing(Echo(), "b", {"text": first.text})

    stack = new_stack(tmp_path, program)

    async def main() -> None:
        task = asyncio.create_task(stack.up_async())
        await asyncio.to_thread(began.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # It has ended in order before the task did: nobody holds the stack any more.
        (listed,) = await stack.workspace.list_stacks_async()
        assert not listed.update_in_progress

    asyncio.run(main())
    names = [resource["urn"].rsplit("::", 1)[1] for resource in stack.export_stack().deployment["resources"]]
    assert "a" in names
    assert "b" not in names


def test_what_has_not_begun_is_dropped_when_it_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 40
    # Each has a key of its own to derive, which takes its time.
    monkeypatch.delenv("MALOKO_CHEAP_KEYS")

    async def main() -> None:
        tasks = [
            asyncio.create_task(
                auto.create_or_select_stack_async(
                    f"s{number}", "project", echo, opts=placed(tmp_path, work_dir=str(tmp_path / f"work-{number}"))
                )
            )
            for number in range(many)
        ]
        # All have begun.
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(end) for end in ended} == {asyncio.CancelledError}

    asyncio.run(main())
    made = list(tmp_path.glob("state/.pulumi/stacks/project/*.json"))
    assert len(made) < many / 2, "those that wait for a processor are dropped"
    # What was made of the others is whole.
    stack = auto.create_or_select_stack("s0", "project", echo, opts=placed(tmp_path, work_dir=str(tmp_path / "work-0")))
    assert stack.up().summary.resource_changes == {"create": 2}


# In Node: async storages of the caller reach program and provider
def test_context_variables_of_the_caller_reach_program_and_provider(tmp_path: Path) -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")
    found: set[tuple[str, str]] = set()

    class Asking(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            found.add(("provider", request.get()))
            return super().create(props)

    def program() -> None:
        found.add(("program", request.get()))
        Thing(Asking(), "a")

    async def one(number: int) -> None:
        request.set(str(number))
        stack = new_stack(tmp_path / str(number), program)
        await stack.up_async(on_output=lambda _line: found.add(("listener", request.get())))

    async def main() -> None:
        await asyncio.gather(one(1), one(2))

    asyncio.run(main())
    assert found == {(place, number) for place in ("program", "provider", "listener") for number in ("1", "2")}


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the kernel's own count")
def test_a_hundred_runs_in_a_row_leave_nothing_behind(tmp_path: Path) -> None:
    stack = new_stack(tmp_path)

    def runs(number: int) -> None:
        for _ in range(number):
            stack.up(on_output=lambda _line: None, on_event=lambda _event: None)
        gc.collect()

    def hosts() -> int:
        return sum(type(thing) is Host for thing in gc.get_objects())

    runs(20)
    threads, resident, before, held = threading.active_count(), _resident(), hosts(), Held.now()
    runs(100)
    after = settled(held)
    assert after.is_as(held), (held, after)
    assert threading.active_count() <= threads
    # With a run's host go its engine and its program's objects. Beside that, the allocator keeps what it likes.
    assert hosts() <= before
    assert _resident() - resident < 12 * 1024 * 1024


def test_temporary_directories_are_gone_with_the_process(tmp_path: Path) -> None:
    code = """
import json
import sys
from maloko import automation as auto

env_vars = json.loads(sys.argv[1])
arguments = {"stack_name": "dev", "project_name": "project", "program": lambda: None}
options = auto.LocalWorkspaceOptions(env_vars=env_vars)
stacks = [auto.create_stack(**arguments, opts=options), auto.select_stack(**arguments, opts=options)]
stacks[1].up()
print(json.dumps([stack.workspace.work_dir for stack in stacks]))
"""
    made = json.loads(_python(code, tmp_path, json.dumps(placed(tmp_path).env_vars)))
    assert len(made) == 2
    assert [Path(directory).exists() for directory in made] == [False, False]


def _python(code: str, directory: Path, *arguments: str) -> str:
    file = directory / "driver.py"
    file.write_text(code)
    done = subprocess.run(
        [sys.executable, str(file), *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# In Python alone: a process that forks takes the engine with it, and Python has sub-interpreters
def test_processes_that_are_forked_off_run_stacks_of_their_own(tmp_path: Path) -> None:
    # The parent has run a stack before: what it left in the process must not disturb the copies.
    out = _python(
        """
import multiprocessing, sys
from pathlib import Path
from test_automation_many import own_stack, seen

def work(number):
    return seen(own_stack(Path(sys.argv[1]), number).up())["who"]

if __name__ == "__main__":
    work(0)
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(pool.map(work, range(1, int(sys.argv[2]))))
""",
        tmp_path,
        str(tmp_path / "stacks"),
        str(rounds(5, 9)),
    )
    assert out.strip() == str([f"number {number}" for number in range(1, rounds(5, 9))])


CELERY = """
import os
from pathlib import Path
from celery import Celery
from test_automation_many import own_stack, seen

root = os.environ["TEST_ROOT"]
app = Celery("deployments", broker="filesystem://", backend=f"file://{root}/results")
folder = f"{root}/queue"
app.conf.broker_transport_options = {"data_folder_in": folder, "data_folder_out": folder}

@app.task
def deploy(number):
    return seen(own_stack(Path(root) / "stacks", number).up())["who"]
"""


# In Python alone: a process that forks takes the engine with it, and Python has sub-interpreters
@pytest.mark.nightly
def test_celery_workers_run_stacks(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "deployments.py").write_text(CELERY)
    environment = {**os.environ, "PYTHONPATH": f"{PATH}{os.pathsep}{tmp_path}", "TEST_ROOT": str(tmp_path)}
    command = [sys.executable, "-m", "celery", "-A", "deployments", "worker", "--pool=prefork", "--concurrency=2"]
    with (tmp_path / "worker.log").open("w") as log:
        worker = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            code = """
from deployments import deploy
waiting = [deploy.delay(number) for number in range(6)]
print([result.get(timeout=200) for result in waiting])
"""
            (tmp_path / "client.py").write_text(code)
            done = subprocess.run(
                [sys.executable, "client.py"],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
        finally:
            worker.terminate()
            worker.wait(60)
    assert done.stdout.strip() == str([f"number {number}" for number in range(6)]), (
        done.stderr + (tmp_path / "worker.log").read_text()
    )


WSGI = """
import os
from pathlib import Path
from test_automation_many import own_stack, seen

def app(environ, start_response):
    number = int(environ["QUERY_STRING"])
    who = seen(own_stack(Path(os.environ["TEST_ROOT"]), number).up())["who"]
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [who.encode()]
"""


# In Python alone: a process that forks takes the engine with it, and Python has sub-interpreters
def test_gunicorn_workers_run_a_stack_per_request(tmp_path: Path) -> None:
    import http.client
    import socket

    (tmp_path / "service.py").write_text(WSGI)
    path = str(tmp_path / "socket")
    environment = {**os.environ, "PYTHONPATH": f"{PATH}{os.pathsep}{tmp_path}", "TEST_ROOT": str(tmp_path / "stacks")}
    command = [sys.executable, "-m", "gunicorn", "--bind", f"unix:{path}", "--workers", "2", "--threads", "2"]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--preload", "--timeout", "120", "service:app"],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )

        def ask(number: int) -> str:
            connection = http.client.HTTPConnection("localhost", timeout=120)
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(120)
            connection.sock.connect(path)
            connection.request("GET", f"/?{number}")
            return connection.getresponse().read().decode()

        try:
            deadline = time.monotonic() + 60
            while not Path(path).exists() and server.poll() is None and time.monotonic() < deadline:
                threading.Event().wait(0.05)
            with ThreadPoolExecutor(4) as pool:
                answers = list(pool.map(ask, range(6)))
        finally:
            server.terminate()
            server.wait(60)
    assert answers == [f"number {number}" for number in range(6)], (tmp_path / "server.log").read_text()


# In Python alone: asyncio beside calls that block: in Node everything is awaited
@pytest.mark.nightly
def test_a_notebook_runs_stacks(tmp_path: Path) -> None:
    cells = [
        f"import sys; sys.path[:0] = {PATH.split(os.pathsep)!r}\n"
        "from pathlib import Path\n"
        "from test_automation_many import own_stack, seen\n"
        f"root = Path({str(tmp_path)!r})",
        "print(seen(own_stack(root, 1).up())['who'])",
        "stack = own_stack(root, 2)\nresult = await stack.up_async()\nprint(seen(result)['who'])",
        "print(stack.destroy().summary.kind)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    printed = ["".join(output.get("text", "") for output in cell.outputs) for cell in notebook.cells]
    assert printed == ["", "number 1\n", "number 2\n", "destroy\n"]


def test_listening_sockets_are_not_needed(tmp_path: Path) -> None:
    opened: list[str] = []

    def audit(event: str, _arguments: tuple[Any, ...]) -> None:
        if event in ("socket.bind", "socket.connect", "subprocess.Popen", "os.fork") and watching:
            opened.append(event)

    watching: list[bool] = []
    sys.addaudithook(audit)
    stack = new_stack(tmp_path, echo)
    watching.append(True)
    stack.up(on_event=lambda _event: None)
    watching.clear()
    assert opened == []
