"""Processes that are forked off a run: they cannot register or write the state, say so, and leave the run alone."""

# All in Python alone: a process that forks takes the engine with it, and Python has sub-interpreters

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli import Project
from kit import Echo, Thing
from stacks import Stack

UP = ("up", "--yes", "--skip-preview")

PROGRAM = """
import multiprocessing, os, pathlib, sys
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Echo(ResourceProvider):
    def create(self, props):
        {in_create}
        return CreateResult("made", props)

class Thing(Resource):
    def __init__(self, name): super().__init__(Echo(), name, {{}})

def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

Thing("first")
{in_program}
Thing("last")
"""


def run(project: Project, in_create: str = "pass", in_program: str = "", code: int = 0) -> str:
    project.write("__main__.py", PROGRAM.format(in_create=in_create, in_program=in_program))
    done = project.run(*UP, code=code)
    assert project.state().count('"id":"made"') == 2
    # Nothing is left of the children: the next run finds all as it should be.
    project.write("__main__.py", PROGRAM.format(in_create="pass", in_program=""))
    assert "2 unchanged" in project.run(*UP).stdout or "3 unchanged" in project.run(*UP).stdout
    return done.stdout + done.stderr


def test_a_child_that_comes_back_from_a_method_ends_and_says_so(project: Project) -> None:
    said = run(project, in_create="child = os.fork()\n        if child: print('child', exit_code(child))")
    assert said.count("child 70") == 2
    assert "was forked off the run of process" in said
    assert "it cannot register resources or write the state, and ends here" in said


def test_a_child_that_goes_on_with_the_program_ends_at_its_first_resource(project: Project) -> None:
    said = run(project, in_program="child = os.fork()\nif child: print('child', exit_code(child))")
    assert "child 70" in said
    assert "was forked off the run of process" in said


def test_a_child_that_ends_by_sys_exit_has_its_exit_code(project: Project) -> None:
    said = run(project, in_program="child = os.fork()\nif not child: sys.exit(3)\nprint('child', exit_code(child))")
    assert "child 3" in said
    assert "was forked off" not in said


def test_multiprocessing_by_fork_does_its_work_beside_the_run(project: Project) -> None:
    work = (
        "fork = multiprocessing.get_context('fork')\n"
        "        made = fork.Process(target=print, args=('from the child',), kwargs={'flush': True})\n"
        "        made.start(); made.join(); assert made.exitcode == 0"
    )
    assert run(project, in_create=work).count("from the child") == 2


def test_a_child_that_asks_the_engine_is_refused(project: Project) -> None:
    asking = (
        "def ask():\n"
        "    pulumi.log.info('logged in the child')\n"
        "    Thing('in the child')\n"
        "made = multiprocessing.get_context('fork').Process(target=ask)\n"
        "made.start(); made.join()\n"
        "print('child', made.exitcode)"
    )
    said = run(project, in_program=asking)
    assert "in the child" not in project.state()
    assert "logged in the child" in said


SERVER = """
import os, sys
sys.path.insert(0, {support!r})
from kit import Echo, Thing
from stacks import Stack

def serve():
    assert Stack().up(lambda: Thing(Echo(), "a")).outcome == "succeeded"

serve()
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        serve()
        os._exit(0)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
serve()
"""


def test_workers_that_a_server_forks_beforehand_run_stacks_of_their_own() -> None:
    script = SERVER.format(support=str(Path(__file__).parents[1] / "support"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "[0, 0, 0, 0]\n"), done.stderr


def test_a_run_of_the_library_goes_on_beside_its_forked_children(stack: Stack) -> None:
    codes = []

    class Forking(Echo):
        def create(self, props):
            child = os.fork()
            if child != 0:
                codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            return super().create(props)

    result = stack.up(lambda: [Thing(Forking(), name) for name in ("a", "b", "c")])
    assert result.changes["create"] == 4
    assert codes == [70, 70, 70]


@pytest.mark.parametrize("method", ["update", "delete"])
def test_a_child_of_any_method_ends(stack: Stack, method: str) -> None:
    codes = []

    def forking(_self, *_):
        child = os.fork()
        if child != 0:
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    provider = type("Forking", (Echo,), {method: forking})()
    stack.up(lambda: Thing(provider, "a", {"n": 1}))
    if method == "update":
        stack.run("update", lambda: Thing(provider, "a", {"n": 2}))
    else:
        stack.destroy(lambda: Thing(provider, "a", {"n": 1}))
    assert codes == [70]
