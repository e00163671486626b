"""Programs that fail: at import, midway, asynchronously, by a signal; and errors as their authors raised them."""

import json
import signal
import sys

from cli import Project, begin, wait_for
from kit import Echo, Thing
from pulumi.dynamic import ResourceProvider
from stacks import Stack
from test_bad_input import ECHO
from test_bad_input import UP as RUN


def failed(project: Project, program: str, *arguments: str) -> str:
    """What is said of a program that fails, with --json nothing but events; what was there stays."""
    project.write("__main__.py", f"{ECHO}\nThing('kept')\n")
    project.run(*RUN)
    project.write("__main__.py", f"{ECHO}\n{program}")
    done = project.run(*(arguments or RUN), "--json", code=1)
    assert done.stderr == ""
    events = [json.loads(line) for line in done.stdout.splitlines()]
    messages = [event["diagnosticEvent"]["message"] for event in events if "diagnosticEvent" in event]
    said = project.failing(*(arguments or RUN))
    assert "::kept" in project.state()
    assert any(message.strip().splitlines()[-1] in said for message in messages)
    assert "maloko/_" not in said
    assert "asyncio/" not in said
    return said


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_program_that_raises_at_import_deletes_nothing(project: Project) -> None:
    project.write("broken.py", "def inner():\n    raise ValueError('at import')\ninner()\n")
    said = failed(project, "import broken\n")
    assert "ValueError: at import" in said
    assert f'{project.directory / "broken.py"}", line 2' in said


def test_a_program_that_raises_midway_deletes_nothing(project: Project) -> None:
    said = failed(project, "Thing('made')\nraise ValueError('midway')\n")
    assert "ValueError: midway" in said
    assert "::made" in project.state()
    project.write("__main__.py", f"{ECHO}\nThing('kept')\nThing('made')\n")
    assert "unchanged" in project.run(*RUN).stdout


def test_an_error_that_nobody_awaits_fails_the_program(project: Project) -> None:
    said = failed(
        project,
        "import asyncio\nasync def work():\n    raise ValueError('in a task')\ntask = asyncio.ensure_future(work())\n",
    )
    assert "ValueError: in a task" in said
    assert "in work" in said


# In Python alone: asyncio beside calls that block: in Node everything is awaited
def test_a_task_that_outlives_the_program_is_a_warning(project: Project) -> None:
    project.write(
        "__main__.py",
        "import asyncio\nasync def work():\n    await asyncio.Event().wait()\ntask = asyncio.ensure_future(work())\n",
    )
    said = project.run(*RUN).stdout
    assert f"the program ended while its task work ({project.directory / '__main__.py'}:2) was still running" in said


def test_an_error_that_somebody_handles_does_not_fail_the_program(project: Project) -> None:
    project.write(
        "__main__.py",
        "import asyncio\n"
        "async def work():\n    raise ValueError('handled')\n"
        "async def main():\n"
        "    task = asyncio.ensure_future(work())\n"
        "    try:\n        await task\n    except ValueError:\n        pass\n"
        "task = asyncio.ensure_future(main())\n",
    )
    assert "handled" not in project.run(*RUN).stdout


def test_a_syntax_error_is_shown_with_its_line_and_nothing_else(project: Project) -> None:
    said = failed(project, "if x\n    pass\n")
    assert "SyntaxError: expected ':'" in said
    assert "if x" in said
    assert "site-packages" not in said


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_two_resources_of_one_urn_are_refused_and_the_first_is_kept(project: Project) -> None:
    said = failed(project, "Thing('twin')\nThing('twin')\n")
    assert "Duplicate resource URN" in said
    assert "'twin'" in said
    assert "give each a name of its own" in said


SLOW = f"""
import pathlib, time
{ECHO}
class Slow(ResourceProvider):
    def create(self, props):
        pathlib.Path("begun").touch()
        while not pathlib.Path("go-on").exists(): time.sleep(0.01)
        return CreateResult("slow", {{}})
class SlowThing(Resource):
    def __init__(self, name): super().__init__(Slow(), name, {{}})
SlowThing("first")
"""


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_sigterm_lets_the_call_in_flight_end_and_keeps_what_it_made(project: Project) -> None:
    project.write("__main__.py", SLOW)
    running = begin(project, *RUN)
    wait_for(project.directory / "begun")
    running.send_signal(signal.SIGTERM)
    line = next(line for line in running.stdout or [] if "cancelling" in line)
    assert "waiting for 1 call in flight: create of 'first'" in line
    project.write("go-on", "")
    running.communicate(timeout=60)
    assert running.returncode == 8
    assert '"slow"' in project.state()
    assert "unchanged" in project.run(*RUN).stdout


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_second_ctrl_c_names_the_call_that_it_leaves(project: Project) -> None:
    project.write("__main__.py", SLOW)
    running = begin(project, *RUN, "--json")
    wait_for(project.directory / "begun")
    running.send_signal(signal.SIGINT)
    lines = iter(running.stdout or [])
    assert any("cancelling" in line for line in lines)
    running.send_signal(signal.SIGINT)
    last = json.loads(list(lines)[-1])
    running.wait(timeout=60)
    assert running.returncode == 8
    assert "left at once during create of 'first'" in last["diagnosticEvent"]["message"]
    project.write("go-on", "")
    done = project.run(*RUN)
    assert "there may now be one object too many" in done.stdout
    assert "its outcome is unknown" in done.stderr


class RefusedError(Exception):
    pass


def deeper() -> None:
    raise KeyError("token")


class Chained(ResourceProvider):
    def create(self, _props):
        try:
            deeper()
        except KeyError as error:
            raise RefusedError("not allowed") from error


def errors(stack: Stack, provider: ResourceProvider) -> str:
    result = stack.run("update", lambda: Thing(provider, "a"))
    assert result.outcome == "failed"
    said = "\n".join(text for severity, urn, text in result.diagnostics if severity == "error" and urn.endswith("::a"))
    assert "maloko/_" not in said
    return said


def test_the_causes_of_an_error_are_shown_with_their_frames(stack: Stack) -> None:
    said = errors(stack, Chained())
    assert "KeyError: 'token'" in said
    assert "in deeper" in said
    assert "direct cause of the following exception" in said
    assert "RefusedError: not allowed" in said
    assert f'File "{__file__}"' in said


if sys.version_info >= (3, 11):

    def test_the_members_of_a_group_of_errors_are_shown_with_their_frames(stack: Stack) -> None:
        class Grouping(Echo):
            def create(self, _props):
                members: list[Exception] = [OSError("no route")]
                try:
                    deeper()
                except KeyError as error:
                    members.append(error)
                raise ExceptionGroup("two things", members)  # noqa: F821 only defined where it exists

        said = errors(stack, Grouping())
        assert "ExceptionGroup: two things (2 sub-exceptions)" in said
        assert "OSError: no route" in said
        assert "KeyError: 'token'" in said
        assert "in deeper" in said
