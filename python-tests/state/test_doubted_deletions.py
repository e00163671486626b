"""A run that is killed in `delete`: the next one asks for the object before anything refers to it."""

import json

import pytest
from cli import Project

PROGRAM = """
import json, os, pathlib, signal
import pulumi
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider

WORLD = pathlib.Path("world")
WORLD.mkdir(exist_ok=True)


def note(text):
    with pathlib.Path("calls").open("a") as calls:
        calls.write(text + "\\n")


class Provider(ResourceProvider):
    def create(self, props):
        note("create " + props["name"])
        (WORLD / props["name"]).write_text("")
        return CreateResult(props["name"], props)

    def delete(self, id_, props):
        note("delete " + id_)
        if pathlib.Path("acts").exists():
            (WORLD / id_).unlink()
        if pathlib.Path("dies").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        (WORLD / id_).unlink(missing_ok=True)


class Readable(Provider):
    def read(self, id_, props):
        note("read " + id_)
        return ReadResult(id_, props) if (WORLD / id_).exists() else ReadResult("", {})


class Thing(Resource):
    def __init__(self, name, needs=""):
        super().__init__(KIND(), name, {"name": name, "needs": needs})


KIND = Readable if pathlib.Path("readable").exists() else Provider
base = Thing("base")
Thing("above", base.id)
"""
DIRECTLY = ("--yes", "--skip-preview", "--parallel", "1")


def killed(project: Project, *, readable: bool, acts: bool) -> None:
    """A destroy that was killed while it deleted `base`, with its object gone or not."""
    project.write("__main__.py", PROGRAM)
    if readable:
        project.write("readable", "")
    project.run("up", *DIRECTLY)
    # Only the deletion of what `above` needs dies.
    project.run("destroy", *DIRECTLY, "--target", urn("above"))
    project.write("dies", "")
    if acts:
        project.write("acts", "")
    project.run("destroy", *DIRECTLY, code=-9)
    for name in ("dies", "acts"):
        (project.directory / name).unlink(missing_ok=True)
    (project.directory / "calls").unlink()


def urn(name: str) -> str:
    return f"urn:pulumi:dev::trial::pulumi-python:dynamic:Resource::{name}"


def calls(project: Project) -> list[str]:
    file = project.directory / "calls"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("acts", [True, False])
def test_an_object_whose_deletion_is_in_doubt_is_asked_for_before_it_is_used(project: Project, acts: bool) -> None:
    killed(project, readable=True, acts=acts)
    project.run("up", *DIRECTLY)
    made = ["create base", "create above"] if acts else ["create above"]
    assert calls(project) == ["read base", *made]
    assert json.loads(project.run("stack", "--json").stdout)["interrupted"] == []
    assert sorted(file.name for file in (project.directory / "world").iterdir()) == ["above", "base"]


def test_what_a_killed_destroy_has_deleted_is_not_deleted_again(project: Project) -> None:
    killed(project, readable=True, acts=True)
    project.run("destroy", *DIRECTLY)
    assert calls(project) == ["read base"]
    assert json.loads(project.state())["checkpoint"]["latest"].get("resources", []) == []


def test_the_doubt_stays_where_nobody_can_be_asked(project: Project) -> None:
    killed(project, readable=False, acts=False)
    for _ in range(2):
        done = project.run("up", *DIRECTLY)
        assert "interrupted while deleting, and no provider was asked" in done.stdout + done.stderr
        interrupted = json.loads(project.run("stack", "--json").stdout)["interrupted"]
        assert interrupted == [{"urn": urn("base"), "operation": "deleting"}]
    project.run("destroy", *DIRECTLY)
    assert json.loads(project.run("stack", "--json").stdout)["interrupted"] == []
