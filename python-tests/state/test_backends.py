"""State in a PostgreSQL database, and on the way there and back, as a user drives it."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import Project, begin, wait_for

SERVER = Path(__file__).parents[2] / "engine-stores" / "tests" / "postgres-server"
PROGRAM = """
import pathlib, time
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult


class Provider(ResourceProvider):
    def create(self, props):
        if props["wait"]:
            pathlib.Path("started").touch()
            time.sleep(props["wait"])
        return CreateResult("one", props)

    def update(self, id_, olds, news):
        return UpdateResult(news)


class Thing(Resource):
    def __init__(self, name, wait, **options):
        super().__init__(Provider(), name, {"wait": wait, "size": SIZE}, pulumi.ResourceOptions(**options))


a = Thing("a", 0)
Thing("b", WAIT, depends_on=[a])
pulumi.export("size", SIZE)
pulumi.export("token", pulumi.Output.secret("hush"))
"""
ONCE = ("--yes", "--skip-preview", "--stack", "dev")


def program(size: int = 1, wait: int = 0) -> str:
    return PROGRAM.replace("SIZE", str(size)).replace("WAIT", str(wait))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "no server; what is missing is said above"
        yield address
        process.stdin.close()


@pytest.fixture
def project(tmp_path: Path, server: str, request: pytest.FixtureRequest) -> Project:
    it = Project(tmp_path)
    it.write("__main__.py", program())
    schema = request.node.name.removeprefix("test_")[:60]
    it.environment["MALOKO_BACKEND_URL"] = f"{server}&schema={schema}&lease=5"
    it.run("stack", "init", "dev")
    return it


def test_a_stack_lives_in_a_database(project: Project) -> None:
    project.run("up", *ONCE)
    project.write("__main__.py", program(size=2))
    project.run("up", *ONCE)
    assert json.loads(project.run("stack", "output", "--json").stdout)["size"] == 2
    kinds = [entry["kind"] for entry in json.loads(project.run("stack", "history", "--json").stdout)]
    assert kinds == ["update", "update"]
    said = project.run("whoami", "--verbose").stdout
    assert "Backend URL: postgres://maloko@/postgres?host=" in said
    assert "Chosen by: MALOKO_BACKEND_URL\nState: 1 stack" in said
    project.run("destroy", *ONCE, "--remove")
    assert json.loads(project.run("stack", "ls", "--json").stdout) == []
    assert not (project.directory / ".maloko" / ".pulumi").exists()


def test_who_is_locked_out_learns_who_works_on_the_stack(project: Project) -> None:
    project.write("__main__.py", program(wait=3600))
    running = begin(project, "up", *ONCE)
    try:
        wait_for(project.directory / "started")
        said = project.failing("destroy", *ONCE, "--no-program")
        assert "'dev' is locked by maloko of" in said
        assert "`maloko up`" in said
        assert f"process {running.pid} on" in said
        assert "1 lock of the stack 'dev' removed" in project.run("cancel", "--yes").stdout
    finally:
        running.kill()
        running.communicate(timeout=60)


def test_a_run_that_was_killed_is_brought_in_without_anybodys_help(project: Project) -> None:
    project.write("__main__.py", program(wait=3600))
    running = begin(project, "up", *ONCE)
    wait_for(project.directory / "started")
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    project.write("__main__.py", program())
    said = project.run("up", *ONCE)
    assert "a run of maloko was interrupted" in said.stderr + said.stdout
    resources = json.loads(project.run("stack", "export").stdout)["deployment"]["resources"]
    things = [resource for resource in resources if resource["type"].endswith("Resource")]
    assert [thing["urn"].rsplit("::", 1)[1] for thing in things] == ["a", "b"]


def test_a_stack_moves_to_a_directory_and_back_with_its_history(project: Project) -> None:
    project.run("up", *ONCE)
    before = (project.run("stack", "export").stdout, project.run("stack", "history", "--json").stdout)
    project.run("stack", "migrate", "--to", "file://moved", "--remove-source", "--yes", PULUMI_CONFIG_PASSPHRASE="")
    assert "no stack named 'dev'" in project.failing("stack", "output", "--stack", "dev")
    there = ("--backend", "file://moved")
    assert (
        project.run("stack", "export", *there).stdout,
        project.run("stack", "history", "--json", *there).stdout,
    ) == before
    address = project.environment["MALOKO_BACKEND_URL"]
    project.run("stack", "migrate", *there, "--to", address, "--remove-source", "--yes", PULUMI_CONFIG_PASSPHRASE="")
    assert (project.run("stack", "export").stdout, project.run("stack", "history", "--json").stdout) == before
    assert "hush" in project.run("stack", "output", "token", "--show-secrets").stdout
    assert "3 unchanged" in project.run("up", *ONCE).stdout
