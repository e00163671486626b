"""Code that takes away what other code of its process needs: the run ends, and never with success that is none."""

import json

import pytest
from cli import MAX_SECONDS, Project, begin

UP = ("up", "--yes", "--skip-preview")

PROGRAM = """
import asyncio, builtins, json, os, sys, threading
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

def broken(*_, **__): raise RuntimeError("broken by the test")

made = threading.Event()

class Provider(ResourceProvider):
    def create(self, props):
        # What the program itself needs is not to be gone while it makes its resources.
        made.wait()
        {in_create}
        return CreateResult("made", {{"name": props["name"]}})

class Thing(Resource):
    def __init__(self, name, options=None): super().__init__(Provider(), name, {{"name": name}}, options)

first = Thing("first")
# At the same time, so that one thread is not enough.
second, third = [Thing(name, pulumi.ResourceOptions(depends_on=[first])) for name in ("second", "third")]
pulumi.export("name", "second")
made.set()
"""


def damaged(project: Project, damage: str) -> tuple[int, str]:
    """Runs the program with the damage and says how it ended; the next run, without it, succeeds."""
    project.write("__main__.py", PROGRAM.format(in_create=damage))
    done = project.run(*UP, code=None)
    if done.returncode != 0:
        # What was made is there, or is known to be in doubt.
        deployment = json.loads(project.run("stack", "export").stdout)["deployment"]
        rows = [*deployment.get("resources", ()), *deployment.get("pending_operations", ())]
        assert "::first" in json.dumps(rows), done.stdout + done.stderr
    project.write("__main__.py", PROGRAM.format(in_create="pass"))
    project.run(*UP)
    assert json.loads(project.run("stack", "output", "--json").stdout) == {"name": "second"}
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "damage",
    [
        "json.dumps = json.loads = broken",
        pytest.param("threading.Thread.start = broken", marks=pytest.mark.nightly),
        "threading.Lock = threading.Event = threading.Condition = None",
        pytest.param(
            "asyncio.ensure_future = asyncio.create_task = asyncio.gather = asyncio.wait = broken",
            marks=pytest.mark.nightly,
        ),
        "builtins.print = builtins.open = broken",
        "os._exit = broken",
    ],
)
def test_what_others_need_is_taken_away_and_kept(project: Project, damage: str) -> None:
    code, said = damaged(project, damage)
    assert code == 0, said


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param("builtins.len = broken", "broken by the test", marks=pytest.mark.nightly),
        ("builtins.isinstance = broken", "first failed to create"),
        pytest.param("builtins.__import__ = broken", "broken by the test", marks=pytest.mark.nightly),
        ("builtins.dict = builtins.list = builtins.str = None", "first failed to create"),
        ("asyncio.get_event_loop = asyncio.get_running_loop = broken", "broken by the test"),
    ],
)
def test_what_others_need_is_taken_away_and_the_run_says_so(project: Project, damage: str, told: str) -> None:
    code, said = damaged(project, damage)
    assert code == 1
    assert told in said


# In Python alone: the host of a command in Node is loaded with the package
def test_an_installation_that_lacks_a_part_ends_the_command(project: Project) -> None:
    project.write("__main__.py", PROGRAM.format(in_create="pass"))
    project.run(*UP)
    project.write("lacking/sitecustomize.py", "import sys\nsys.modules['maloko._run.quiet'] = None\n")
    # No program runs here: the first call of a provider brings the thread that it runs on.
    project.environment["PYTHONPATH"] = str(project.directory / "lacking")
    running = begin(project, "destroy", "--yes", "--skip-preview")
    said, _ = running.communicate(timeout=MAX_SECONDS)
    assert running.returncode != 0
    assert "maloko._run.quiet" in said
