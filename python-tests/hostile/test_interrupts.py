"""Ctrl-C and SIGTERM, whatever provider code does at that moment: real processes, real signals, the command line."""

import json
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli import MALOKO, Project, wait_for
from night import by_day

# Each goes on for ever, unless there is the file `go-on`.
STUCK = {
    "sleeps": "def create(self, props):\n        begin()\n        time.sleep(3600)\n",
    "spins": "def create(self, props):\n        begin()\n        while True: pass\n",
    # A pattern that backtracks for ages: C code that never lets go of the interpreter's lock.
    "holds the interpreter": (
        "def create(self, props):\n        begin()\n        re.match(r'(a+)+$', 'a' * 64 + 'b')\n"
    ),
    "blocks the event loop": "async def create(self, props):\n        begin()\n        time.sleep(3600)\n",
    "ignores being cancelled": (
        "async def create(self, props):\n"
        "        begin()\n"
        "        while True:\n"
        "            try: await asyncio.sleep(3600)\n"
        "            except asyncio.CancelledError: pass\n"
    ),
}

PROGRAM = """
import asyncio, pathlib, re, signal, subprocess, threading, time
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

def begin():
    pathlib.Path("begun").touch()

class Stuck(ResourceProvider):
    {method}

class Fine(ResourceProvider):
    def create(self, props):
        return CreateResult("fine", {{}})

class First(Resource):
    def __init__(self): super().__init__(Fine() if pathlib.Path("go-on").exists() else Stuck(), "first", {{}})

First()
"""

UP = ("up", "--yes", "--skip-preview")


# Who runs the tests may ignore SIGHUP (`nohup`), which processes inherit.
HEARS_HANGUP = ("env", "--default-signal=HUP")


def begin(project: Project, *arguments: str, through: Sequence[str] = (), **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*through, *MALOKO, *arguments],
        cwd=project.directory,
        env={**project.environment, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until(running: subprocess.Popen[str], text: str) -> str:
    """Reads lines until one has the text."""
    seen = []
    for line in running.stdout or []:
        seen.append(line)
        if text in line:
            return line
    raise AssertionError(f"'{text}' was never said:\n{''.join(seen)}")


# By day one that gives way, one that does not, and one that holds everything.
@pytest.fixture(params=by_day(STUCK, lambda kind, _: kind in ("sleeps", "holds the interpreter")))
def stuck(request: pytest.FixtureRequest, project: Project) -> Project:
    project.write("__main__.py", PROGRAM.format(method=STUCK[request.param]))
    return project


def pending(project: Project) -> list[str]:
    exported = json.loads(project.run("stack", "export").stdout)
    return [it["type"] for it in exported["deployment"].get("pending_operations", [])]


def is_named_and_made(project: Project) -> None:
    """The next run takes up from what was left: it names the create and makes the object."""
    assert pending(project) == ["creating"]
    project.write("go-on", "")
    said = project.run(*UP).stdout
    assert "interrupted while creating" in said
    assert '"id":"fine"' in project.state()


def test_a_second_ctrl_c_leaves_at_once_whatever_the_provider_does(stuck: Project) -> None:
    running = begin(stuck, *UP)
    wait_for(stuck.directory / "begun")
    running.send_signal(signal.SIGINT)
    line = until(running, "cancelling")
    assert "waiting for 1 call in flight: create of 'first'" in line
    assert "press Ctrl-C again to leave at once" in line
    running.send_signal(signal.SIGINT)
    assert "that is recorded as pending" in until(running, "left at once during create of 'first'")
    running.communicate(timeout=60)
    assert running.returncode == 8
    is_named_and_made(stuck)


def test_one_signal_is_enough_when_the_patience_runs_out(stuck: Project) -> None:
    running = begin(stuck, *UP, MALOKO_CANCEL_SECONDS="1")
    wait_for(stuck.directory / "begun")
    running.send_signal(signal.SIGTERM)
    assert "for 1 s at most" in until(running, "cancelling")
    assert "1 s after the run was cancelled" in until(running, "left at once during create of 'first'")
    running.communicate(timeout=60)
    assert running.returncode == 8
    is_named_and_made(stuck)


def test_a_closed_terminal_is_a_first_signal(project: Project) -> None:
    project.write("__main__.py", PROGRAM.format(method=STUCK["sleeps"]))
    running = begin(project, *UP, through=HEARS_HANGUP, MALOKO_CANCEL_SECONDS="1")
    wait_for(project.directory / "begun")
    running.send_signal(signal.SIGHUP)
    until(running, "left at once during create of 'first'")
    running.communicate(timeout=60)
    assert running.returncode == 8
    is_named_and_made(project)


# In Python alone: Node takes SIGHUP for one that is not ignored, before any code of ours runs
def test_under_nohup_a_closed_terminal_is_nothing(project: Project) -> None:
    body = (
        "def create(self, props):\n        os.kill(os.getpid(), signal.SIGHUP)\n        return CreateResult('it', {})\n"
    )
    project.write("__main__.py", "import os\n" + PROGRAM.format(method=body))
    ignoring = project.run_through("trap '' HUP; exec \"$@\"", *UP)
    assert ignoring.returncode == 0, ignoring.stdout + ignoring.stderr
    assert "cancelling" not in ignoring.stdout


# What holds everything is given up by day as well, where the patience runs out.
@pytest.mark.parametrize("kind", by_day(["sleeps", "spins", "holds the interpreter"], lambda kind, _: kind == "sleeps"))
def test_a_call_is_given_up_at_its_time_limit_whatever_the_provider_does(project: Project, kind: str) -> None:
    project.write("__main__.py", PROGRAM.format(method=STUCK[kind]))
    project.run("config", "set", "maloko:callLimit", "2s")
    done = project.run(*UP, code=1)
    said = done.stdout + done.stderr
    if kind == "holds the interpreter":
        assert "left at once during create of 'first'" in said
    else:
        assert "create of 'first' took longer than the 2s that the configuration 'maloko:callLimit' gives it" in said
    is_named_and_made(project)


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_limit_that_is_no_duration_is_an_error_that_says_what_is(project: Project) -> None:
    project.run("config", "set", "maloko:callLimit", "soon")
    assert "'maloko:callLimit' is 'soon', which is not a duration" in project.failing(*UP)
    done = project.run("preview", code=2, MALOKO_CANCEL_SECONDS="soon")
    assert "MALOKO_CANCEL_SECONDS is 'soon'; it must be a whole number" in done.stderr


SPINNING_PROGRAM = """
import pathlib
pathlib.Path("begun").touch()
while not pathlib.Path("go-on").exists(): pass
"""


def test_a_program_that_spins_is_left_behind(project: Project) -> None:
    project.write("__main__.py", SPINNING_PROGRAM)
    running = begin(project, *UP)
    wait_for(project.directory / "begun")
    running.send_signal(signal.SIGINT)
    assert "waiting for the program to end" in until(running, "cancelling")
    running.send_signal(signal.SIGINT)
    until(running, "left at once; the next run takes up")
    running.communicate(timeout=60)
    assert running.returncode == 8
    project.write("go-on", "")
    project.run(*UP)


REPLACING = """
import pathlib, signal
from pulumi.dynamic import CreateResult, Resource, ResourceProvider
import maloko

signal.signal(signal.SIGINT, lambda number, frame: pathlib.Path("handled").write_text(str(int(number))))

class Waiting(ResourceProvider):
    def create(self, props):
        pathlib.Path("begun").touch()
        assert maloko.current_call().cancelled.wait(60)
        return CreateResult("ended", {})

class First(Resource):
    def __init__(self): super().__init__(Waiting(), "first", {})

First()
"""


def test_a_programs_own_handler_is_called_beside_the_engines(project: Project) -> None:
    project.write("__main__.py", REPLACING)
    running = begin(project, *UP)
    wait_for(project.directory / "begun")
    running.send_signal(signal.SIGINT)
    until(running, "cancelling")
    running.communicate(timeout=60)
    assert running.returncode == 8
    assert Path(project.directory, "handled").read_text() == "2"
    assert '"id":"ended"' in project.state()


PREVIEWED = """
import pathlib, time
from pulumi.dynamic import CheckResult, CreateResult, Resource, ResourceProvider

class Checking(ResourceProvider):
    def check(self, olds, news):
        pathlib.Path("begun").touch()
        while not pathlib.Path("go-on").exists(): time.sleep(0.02)
        return CheckResult(news, [])
    def create(self, props):
        return CreateResult("fine", {})

class First(Resource):
    def __init__(self): super().__init__(Checking(), "first", {})

First()
"""


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_sigterm_during_the_preview_of_an_up_ends_both(project: Project) -> None:
    project.write("__main__.py", PREVIEWED)
    running = begin(project, "up", "--yes", MALOKO_CANCEL_SECONDS="1")
    wait_for(project.directory / "begun")
    running.send_signal(signal.SIGTERM)
    until(running, "nothing was changed")
    running.communicate(timeout=60)
    assert running.returncode == 8
    project.write("go-on", "")
    project.run("up", "--yes")


ENDING = """
import os, pathlib, subprocess, sys, threading, time
from pulumi.dynamic import CheckResult, CreateResult, Resource, ResourceProvider

def end(place):
    if os.environ.get("PLACE") == place:
        {end}

class Ending(ResourceProvider):
    def check(self, olds, news):
        end("check")
        return CheckResult(news, [])
    def create(self, props):
        end("create")
        return CreateResult("fine", {{}})
    def delete(self, id_, props):
        end("delete")
        pathlib.Path("deleting").touch()
        while os.environ.get("PLACE") == "later": time.sleep(0.02)

class First(Resource):
    def __init__(self): super().__init__(Ending(), "first", {{}})

def later():
    while not pathlib.Path("deleting").exists(): time.sleep(0.02)
    end("later")

First()
if os.environ.get("PLACE") == "later":
    threading.Thread(target=later, daemon=True).start()
end("program")
"""

UP_JSON, DESTROY = (*UP, "--json"), ("destroy", "--yes", "--skip-preview")


@pytest.mark.parametrize(
    ("command", "place", "who"),
    [
        (UP, "create", "create of 'first'"),
        (UP_JSON, "create", "create of 'first'"),
        ((*UP, "--expect-no-changes"), "program", "the program"),
        (("preview",), "check", "check of 'first'"),
        (("preview", "--json"), "program", "the program"),
        (("up", "--yes"), "check", "check of 'first'"),
        (DESTROY, "delete", "delete of 'first'"),
        (DESTROY, "later", "the program"),
    ],
)
def test_a_direct_end_of_the_process_is_no_success(
    project: Project, command: tuple[str, ...], place: str, who: str
) -> None:
    project.write("__main__.py", ENDING.format(end="os._exit(0)"))
    if command == DESTROY:
        project.run(*UP)
    done = project.run(*command, code=1, PLACE=place)
    assert f"error: {who} ended the process with os._exit(0), and with it the run" in done.stderr
    if command[0] == "preview" or "--skip-preview" not in command:
        assert "nothing was changed. Correct that, and run the same command again" in done.stderr
    else:
        assert "Run the same command again: it names what was in flight, and takes up from the journal" in done.stderr
    if "--json" in command:
        assert all(json.loads(line) for line in done.stdout.splitlines())
    if place == "create":
        assert "interrupted while creating" in project.run(*UP).stdout


@pytest.mark.parametrize("code", [3, 256])
def test_a_direct_end_with_a_code_of_its_own_keeps_it(project: Project, code: int) -> None:
    project.write("__main__.py", ENDING.format(end=f"os._exit({code})"))
    done = project.run(*UP, code=code % 256 or 1, PLACE="program")
    assert f"the program ended the process with os._exit({code})" in done.stderr


def test_a_direct_end_is_told_with_the_providers_of_the_state_alone(project: Project) -> None:
    project.write("__main__.py", "from providers import First\nFirst()\n")
    project.write("providers.py", ENDING.replace("\nFirst()\n", "\n").format(end="os._exit(0)"))
    project.run(*UP)
    done = project.run(*DESTROY, "--no-program", code=1, PLACE="delete")
    assert "delete of 'first' ended the process" in done.stderr


def test_a_child_of_the_run_ends_as_it_likes(project: Project) -> None:
    forked = "child = os.fork()\n        if child == 0: os._exit(0)\n        print('child', os.waitpid(child, 0)[1])"
    project.write("__main__.py", ENDING.format(end=forked))
    for place in ("create", "program"):
        done = project.run(*UP, PLACE=place)
        assert "child 0" in done.stdout
        assert "ended the process" not in done.stderr


def test_the_process_is_its_own_again_after_the_run(project: Project) -> None:
    note = "pathlib.Path('same').write_text(f'{during is os._exit} {os.execv.__module__}')"
    project.write("__main__.py", f"import atexit, os, pathlib\nduring = os._exit\natexit.register(lambda: {note})\n")
    project.run(*UP)
    assert Path(project.directory, "same").read_text() == "False posix"


def test_another_program_cannot_take_the_place_of_the_process(project: Project) -> None:
    project.write("__main__.py", ENDING.format(end="os.execvp('true', ['true'])"))
    for place in ("create", "program"):
        done = project.run(*UP, code=1, PLACE=place)
        assert "would take the place of the process, and so of the whole run: start it with subprocess" in done.stdout
    project.write("__main__.py", ENDING.format(end="subprocess.run(['true'], check=True)"))
    project.run(*UP, PLACE="program")
