"""The command line as installed by the wheel."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from cli import Project, begin, wait_for

PROGRAM = """
import json, os, subprocess, sys
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def configure(self, req):
        self.token = req.config.get("token")

    def create(self, props):
        print("printed by python")
        os.write(1, b"written to the descriptor\\n")
        subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
        return CreateResult("made", {**props, "seen": self.token == "hush"})


class Thing(Resource):
    seen: pulumi.Output[bool]

    def __init__(self, name, props):
        super().__init__(Provider(), name, {"seen": None, **props})


thing = Thing("a", {"password": pulumi.Config().require_secret("token"), "n": 1})
pulumi.export("seen", thing.seen)
"""


def test_up_preview_and_destroy(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    project.run("config", "set", "--secret", "token", "hush")
    assert "2 to create" in project.run("preview").stdout
    project.run("up", "--yes")
    assert project.run("stack", "output", "seen").stdout.strip() == "true"
    assert "2 unchanged" in project.run("up", "--yes").stdout
    project.run("destroy", "--yes")


def test_json_events_stay_whole_whatever_is_printed(project: Project) -> None:
    project.write("__main__.py", PROGRAM + 'print("without a line feed", end="")\n')
    project.run("config", "set", "--secret", "token", "hush")
    # As it is in a user's shell: what is printed waits in a buffer.
    project.environment["PYTHONUNBUFFERED"] = ""
    events = project.events("up", "--yes", "--skip-preview")
    text = json.dumps(events)
    for line in ("printed by python", "written to the descriptor", "printed by a child"):
        assert line in text
    kinds = [key for event in events for key in event if key.endswith("Event")]
    assert text.index("without a line feed") < text.index('"summaryEvent"'), kinds


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_the_editor_of_state_edit_shares_the_streams(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    project.run("config", "set", "--secret", "token", "hush")
    project.run("up", "--yes", "--skip-preview")
    project.write(
        "edit",
        "#!/bin/sh\nset -e\n: <&0\necho seen on stdout\necho seen on stderr >&2\n"
        'sed -i \'s/"made"/"made anew"/\' "$1"\n',
    )
    (project.directory / "edit").chmod(0o755)
    said = project.run("state", "edit", EDITOR="./edit")
    assert "seen on stdout" in said.stdout
    assert "made anew" in project.run("stack", "--show-ids").stdout
    # Nothing is said to be kept that is not there.
    gone = project.failing("state", "edit", EDITOR="rm")
    assert "The editor has left nothing of the edited text" in gone
    assert "is kept in" not in gone


def waiting_program(project: Project) -> Path:
    mark = project.directory / "begun"
    project.write(
        "__main__.py",
        "import pathlib, time\n"
        "from pulumi.dynamic import CreateResult, Resource, ResourceProvider\n"
        "class Slow(ResourceProvider):\n"
        "    def create(self, props):\n"
        f"        pathlib.Path({str(mark)!r}).write_text('begun')\n"
        f"        stop = pathlib.Path({str(project.directory / 'go-on')!r})\n"
        "        while not stop.exists(): time.sleep(0.02)\n"
        "        return CreateResult('slow', {})\n"
        "class Thing(Resource):\n"
        "    def __init__(self, name): super().__init__(Slow(), name, {})\n"
        "Thing('a')\n",
    )
    return mark


def test_an_error_that_nobody_waits_for_is_a_warning_of_the_resource_in_whose_call_it_was_raised(
    project: Project,
) -> None:
    project.write(
        "__main__.py",
        "import asyncio\n"
        "from pulumi.dynamic import CreateResult, Resource, ResourceProvider\n"
        "class Leaving(ResourceProvider):\n"
        "    tasks, told = [], asyncio.Event()\n"
        "    async def create(self, props):\n"
        "        async def alone():\n"
        "            raise ValueError('left alone ' + props['n'])\n"
        "        async def taken():\n"
        "            raise ValueError('taken')\n"
        "        self.tasks.append(asyncio.create_task(alone()))\n"
        "        try: await asyncio.create_task(taken())\n"
        "        except ValueError: pass\n"
        "        later = asyncio.create_task(taken())\n"
        "        await asyncio.sleep(0)\n"
        "        await asyncio.sleep(0)\n"
        "        await asyncio.gather(later, return_exceptions=True)\n"
        "        return CreateResult('made', props)\n"
        "class Thing(Resource):\n"
        "    n: str\n"
        "    def __init__(self, name, n): super().__init__(Leaving(), name, {'n': n})\n"
        "Thing('b', Thing('a', '1').n)\n",
    )
    said = project.run("up", "--yes", "--skip-preview", "--stack", "dev").stdout
    for name in ("a", "b"):
        assert f"warning: Resource {name}: an error was raised in `create` that nobody waits for:" in said
    assert "ValueError: left alone 1" in said
    assert "at alone" in said or "in alone" in said
    assert "ValueError: taken" not in said


def test_large_whole_numbers_are_shown_without_an_exponent(project: Project) -> None:
    project.write(
        "__main__.py",
        "import pulumi\n"
        "for number in (2**40, 2**64, 3 * 10**20, -(2**63)): pulumi.export(f'n{number}', float(number))\n"
        "pulumi.export('inexact', 9007199254740993)\n",
    )
    said = project.run("up", "--yes", "--skip-preview", "--stack", "dev").stdout
    assert "lose their last digits on their way from the program; pass these outputs as texts" in said
    expected = ["1099511627776", "18446744073709551616", "300000000000000000000", "-9223372036854775808"]
    names = ["n1099511627776", "n18446744073709551616", "n300000000000000000000", "n-9223372036854775808"]
    shown = [project.run("stack", "output", "--stack", "dev", "--", name).stdout.strip() for name in names]
    assert shown == expected
    table = project.run("stack", "output", "--stack", "dev").stdout
    assert all(text in table for text in expected)


def test_ctrl_c_lets_the_call_in_flight_end_and_keeps_what_it_made(project: Project) -> None:
    mark = waiting_program(project)
    running = begin(project, "up", "--yes", "--skip-preview")
    wait_for(mark)
    running.send_signal(signal.SIGINT)
    assert "cancelling" in next(line for line in running.stdout if "cancelling" in line)
    project.write("go-on", "")
    running.communicate(timeout=60)
    assert running.returncode != 0
    assert '"slow"' in project.state()


def test_a_second_ctrl_c_leaves_at_once_and_the_create_is_not_forgotten(project: Project) -> None:
    mark = waiting_program(project)
    running = begin(project, "up", "--yes", "--skip-preview")
    wait_for(mark)
    running.send_signal(signal.SIGINT)
    assert "cancelling" in next(line for line in running.stdout if "cancelling" in line)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode != 0
    said = project.run("preview", code=None)
    assert "::a" in said.stdout + said.stderr or "Thing a" in said.stdout + said.stderr or "Resource a" in said.stdout


def test_version_and_about_name_the_interpreter_and_the_sdk(project: Project) -> None:
    from importlib.metadata import version

    assert version("maloko") in project.run("version").stdout
    about = project.run("about").stdout
    assert version("pulumi") in about
    assert sys.executable in about


def test_commands_that_need_no_program_do_not_load_the_sdk(project: Project) -> None:
    script = (
        "import sys\n"
        "from maloko.__main__ import run\n"
        "code = run(['version'])\n"
        "loaded = [name for name in ('pulumi', 'grpc') if name in sys.modules]\n"
        "print(loaded)\n"
        "sys.stdout.flush()\n"
        "import os; os._exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project.directory, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"
