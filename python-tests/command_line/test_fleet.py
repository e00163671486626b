"""Fleets: what their file means is told here; what drives them is asked for with the flags of the command."""

import json
import signal
from pathlib import Path

import pytest
from cli import MAX_SECONDS, Project, begin, read_until

FLEET = """
name: trials
stacks:
  - { program: ., stack: base }
  - program: .
    for: [{ size: s }, { size: m }]
    stack: "app-{size}"
    needs: base
    config: { token: { secretFrom: env TRIAL_TOKEN } }
"""
# Read by each Python as it starts.
WITHOUT_TEMPORAL = "import sys\nsys.modules['temporalio'] = None\n"
# Stands for what drives fleets.
DRIVEN = """
import importlib.machinery
import sys
import threading
import types

temporal = types.ModuleType("temporalio")
temporal.__spec__ = importlib.machinery.ModuleSpec("temporalio", None)
commands = types.ModuleType("maloko.fleet._commands")


def run(request):
    try:
        print(request, flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        print("interrupted on", threading.current_thread().name, flush=True)
        return 8


commands.run = run
sys.modules |= {"temporalio": temporal, "maloko.fleet._commands": commands}
"""


@pytest.fixture
def trials(tmp_path: Path) -> Project:
    """A project with a fleet of its own program."""
    project = Project(tmp_path)
    project.write("fleet.yaml", FLEET)
    return project


def begin_with(project: Project, at_start: str, *arguments: str) -> str:
    """What a command said on which something is done as Python starts."""
    project.environment["PYTHONPATH"] = str(project.write("at_start/sitecustomize.py", at_start).parent)
    running = begin(project, *arguments)
    said = ""
    if at_start == DRIVEN:
        said = read_until(running, "{")
        running.send_signal(signal.SIGINT)
    said += running.communicate(timeout=MAX_SECONDS)[0]
    return f"{said}{running.returncode}"


def test_the_stacks_of_a_fleet_are_listed(trials: Project) -> None:
    (trials.directory / "below").mkdir()
    listed = trials.run("fleet", "ls", "--cwd", "below").stdout
    assert [line.split()[0] for line in listed.splitlines()] == ["STACK", "trial/base", "trial/app-s", "trial/app-m"]
    plan = json.loads(trials.run("fleet", "ls", "--select", "size=s", "--json").stdout)
    assert [stack["id"] for stack in plan["stacks"]] == ["trial/app-s"]
    assert "the file is fine" in trials.run("fleet", "check").stdout


def test_what_is_wrong_with_a_fleet_is_told_with_its_place(trials: Project) -> None:
    file = trials.write("fleet.yaml", FLEET.replace("needs: base", "needs: bas"))
    wrong = trials.run("fleet", "check", code=2)
    assert wrong.stdout == ""
    told = f"error: {file}:8:12: stacks[1].needs: trial/app-s needs 'bas', which no stack of this fleet is; "
    assert wrong.stderr == f"{told}did you mean 'base'?\n"


def test_a_fleet_that_cannot_be_driven_says_what_to_install(trials: Project) -> None:
    told = "error: maloko fleet needs more packages: pip install 'maloko[fleet]'\n2"
    assert begin_with(trials, WITHOUT_TEMPORAL, "fleet", "up") == told


def test_what_drives_a_fleet_is_asked_on_the_main_thread_and_hears_ctrl_c(trials: Project) -> None:
    arguments = ("fleet", "up", "--select", "size=s", "--stop-after", "5%", "--at-a-time", "3", "--message", "note")
    request, *interrupted = begin_with(trials, DRIVEN, *arguments).splitlines()
    assert interrupted == ["interrupted on MainThread", "8"]
    directory = str(trials.directory)
    assert json.loads(request) == {
        **{"command": "up", "file": f"{directory}/fleet.yaml", "directory": directory, "interactive": False},
        **{"columns": 0, "color": False, "select": ["size=s"], "stacks": [], "atATime": 3, "stopAfter": "5%"},
        **{
            "detach": False,
            "yes": False,
            "cancelOnInterrupt": False,
            "message": "note",
            "outputs": False,
            "json": False,
        },
    }


def test_a_fleet_is_destroyed_only_where_somebody_says_so(trials: Project) -> None:
    asked = trials.run("fleet", "destroy", "--non-interactive", code=2).stderr
    assert "This deletes every resource of 3 stacks of the fleet 'trials'. Go on?" in asked
    assert "add --yes" in asked
