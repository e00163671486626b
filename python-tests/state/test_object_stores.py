"""Stacks in an object store: what a killed run left is brought back on another machine."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import Project, begin, wait_for

SERVER = Path(__file__).parents[2] / "engine-stores" / "tests" / "servers" / "moto_server.py"

PROGRAM = """
import time
from pathlib import Path

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

HERE = Path(__file__).parent


class Maker(ResourceProvider):
    def create(self, props):
        if props["name"] == "slow" and (HERE / "hang").exists():
            (HERE / "started").touch()
            time.sleep(3600)
        return CreateResult(props["name"], props)


class Made(Resource):
    def __init__(self, name, opts=None):
        super().__init__(Maker(), name, {"name": name}, opts)


quick = Made("quick")
Made("slow", pulumi.ResourceOptions(depends_on=[quick]))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an S3 server that the tests of this file share."""
    with subprocess.Popen([sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}"
        server.stdin.close()


@pytest.fixture
def store(server: str, tmp_path: Path) -> str:
    """The address of a store of the test's own."""
    return f"s3://states/{tmp_path.name}?region=us-east-1&endpoint={server}"


def machine(directory: Path, store: str) -> Project:
    """A machine of its own: another directory and home, the same store."""
    directory.mkdir()
    made = Project(directory)
    made.write("__main__.py", PROGRAM)
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    made.environment |= {"MALOKO_BACKEND_URL": store, **keys}
    return made


UP = ("up", "--yes", "--skip-preview", "--stack", "dev")


def test_a_stack_lives_in_a_bucket(tmp_path: Path, store: str) -> None:
    here, there = machine(tmp_path / "here", store), machine(tmp_path / "there", store)
    here.run("stack", "init", "dev")
    assert "3 created" in here.run(*UP).stdout
    assert "3 unchanged" in there.run(*UP).stdout
    kinds = [entry["kind"] for entry in json.loads(there.run("stack", "history", "--json", "--stack", "dev").stdout)]
    # A run that changes nothing writes nothing.
    assert kinds == ["update"]
    there.run("destroy", "--yes", "--skip-preview", "--stack", "dev", "--remove")
    assert json.loads(here.run("stack", "ls", "--json").stdout) == []
    assert not (here.directory / ".maloko" / ".pulumi").exists()


def killed_in_the_middle(here: Project) -> None:
    """Deploys the program and kills it while the second resource is being made."""
    here.run("stack", "init", "dev")
    here.write("hang", "")
    running = begin(here, *UP)
    wait_for(here.directory / "started")
    running.send_signal(signal.SIGKILL)
    running.communicate()


@pytest.mark.nightly
def test_a_run_that_was_killed_is_recovered_on_another_machine(tmp_path: Path, store: str) -> None:
    here, there = machine(tmp_path / "here", store), machine(tmp_path / "there", store)
    killed_in_the_middle(here)

    assert "1 lock of the stack" in there.run("cancel", "--yes", "--stack", "dev").stdout
    done = there.run(*UP)
    said = done.stdout + done.stderr
    assert "an earlier run was interrupted while creating this resource" in said
    exported = there.run("stack", "export", "--stack", "dev").stdout
    assert exported.count('"id": "quick"') == 1
    assert exported.count('"id": "slow"') == 1


def test_a_run_that_is_cancelled_on_another_machine_writes_nothing_more(tmp_path: Path, store: str) -> None:
    here, there = machine(tmp_path / "here", store), machine(tmp_path / "there", store)
    here.run("stack", "init", "dev")
    here.write("hang", "")
    running = begin(here, *UP)
    wait_for(here.directory / "started")

    refused = there.failing(*UP)
    assert "is locked by maloko" in refused
    assert "`maloko up`" in refused
    there.run("cancel", "--yes", "--stack", "dev")
    there.run(*UP)
    before = there.run("stack", "export", "--stack", "dev").stdout
    running.send_signal(signal.SIGINT)
    assert running.stdout is not None
    assert any("cancelling" in line for line in running.stdout)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate()
    assert running.returncode != 0, output
    assert there.run("stack", "export", "--stack", "dev").stdout == before
