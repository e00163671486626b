"""What stays although it was to go, or goes without a call: it is said, and counted by itself."""

import json
from typing import Any

import pytest
from cli import Project

PROGRAM = """
import json, pathlib
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def diff(self, id_, olds, news):
        return DiffResult(olds["zone"] != news["zone"], ["zone"] if olds["zone"] != news["zone"] else [])

    def create(self, props):
        return CreateResult(props["name"] + "-" + props["zone"], props)

    def delete(self, id_, props):
        if pathlib.Path("broken").exists():
            raise RuntimeError("the bucket is not empty")
        with pathlib.Path("deleted").open("a") as file:
            file.write(id_ + "\\n")


class Thing(Resource):
    def __init__(self, name, zone, **options):
        super().__init__(Provider(), name, {"name": name, "zone": zone}, pulumi.ResourceOptions(**options))


made = {}
for name, (zone, options) in json.loads(pathlib.Path("wanted.json").read_text()).items():
    options = {key: made[value] if isinstance(value, str) else value for key, value in options.items()}
    made[name] = Thing(name, zone, **options)
"""
DIRECTLY = ("--yes", "--skip-preview")


def urn(name: str) -> str:
    return f"urn:pulumi:dev::trial::pulumi-python:dynamic:Resource::{name}"


def wants(project: Project, **wanted: tuple[str, dict[str, Any]]) -> None:
    project.write("wanted.json", json.dumps(wanted))


@pytest.fixture
def things(project: Project) -> Project:
    project.write("__main__.py", PROGRAM)
    return project


def deleted(project: Project) -> list[str]:
    file = project.directory / "deleted"
    return file.read_text().split() if file.exists() else []


def test_what_is_retained_is_told_and_counted_as_retained(things: Project) -> None:
    wants(things, a=("x", {"retain_on_delete": True}), b=("x", {}))
    things.run("up", *DIRECTLY)
    preview = things.run("destroy", "--preview-only").stdout
    assert "< Resource a retain [retainOnDelete]" in preview
    assert "< 1 to retain" in preview
    assert "- 2 to delete" in preview
    plan = json.loads(things.run("preview", "--json", "--replace", urn("a")).stdout)
    assert plan["changeSummary"]["retain"] == 1
    wants(things)
    events = things.events("up", *DIRECTLY)
    steps = [event["resOutputsEvent"]["metadata"] for event in events if "resOutputsEvent" in event]
    told = {step["urn"].split("::")[-1]: (step["op"], step.get("countedAs")) for step in steps}
    # The readers of Pulumi's events know no other operation.
    assert (told["a"], told["b"]) == (("delete", "retain"), ("delete", None))
    assert events[-2]["summaryEvent"]["resourceChanges"] == {"delete": 1, "retain": 1, "same": 1}
    assert deleted(things) == ["b-x"]
    assert "1 delete, 1 retain, 1 same" in things.run("stack", "history").stdout


def test_an_option_that_comes_with_a_replacement_retains_the_old_object(things: Project) -> None:
    wants(things, a=("x", {}))
    things.run("up", *DIRECTLY)
    wants(things, a=("y", {"retain_on_delete": True}))
    preview = things.run("preview").stdout
    assert "<< Resource a retain original" in preview
    assert "< 1 to retain" in preview
    done = things.run("up", *DIRECTLY, "--summary", "markdown").stdout
    assert "1 replace, 1 retain, 1 same" in done
    assert "| retain-replaced | a |" in done
    assert deleted(things) == []


def test_what_goes_with_its_owner_is_told_and_counted_so(things: Project) -> None:
    wants(things, a=("x", {}), b=("x", {"deleted_with": "a"}))
    things.run("up", *DIRECTLY)
    wants(things)
    done = things.run("up", *DIRECTLY).stdout
    assert "- Resource b deleted with owner" in done
    assert "- 1 deleted\n" in done
    assert "- 1 deleted with owner" in done
    assert deleted(things) == ["a-x"]


def test_a_replaced_object_that_is_left_out_is_told_until_it_is_deleted(things: Project) -> None:
    wants(things, a=("x", {}))
    things.run("up", *DIRECTLY)
    wants(things, a=("y", {}))
    things.write("broken", "")
    assert "the bucket is not empty" in things.failing("up", *DIRECTLY)
    (things.directory / "broken").unlink()
    waits = "1 replaced object still waits for deletion: a (id 'a-x'); an `maloko up` without this selection deletes"
    for command in (("preview",), ("up", *DIRECTLY)):
        done = things.run(*command, "--exclude", urn("a"))
        assert waits in done.stdout + done.stderr
        refused = things.run(*command, "--exclude", urn("a"), "--expect-no-changes", code=7)
        assert "1 replacement of an earlier run did not come to the end" in refused.stderr
    shown = things.run("stack").stdout
    assert "1 replaced object to be deleted by the next `maloko up`:\n    a (id 'a-x')" in shown
    assert json.loads(things.run("stack", "--json").stdout)["waiting"] == [
        {"urn": urn("a"), "id": "a-x", "waitsFor": "deletion"}
    ]
    preview = things.run("preview").stdout
    assert "-- Resource a delete original [replaced in an earlier run]" in preview
    assert "- 1 to delete" in preview
    things.run("preview", "--expect-no-changes", code=7)
    assert "- 1 deleted" in things.run("up", *DIRECTLY).stdout
    assert deleted(things) == ["a-x"]
    assert json.loads(things.run("stack", "--json").stdout)["waiting"] == []
    things.run("up", *DIRECTLY, "--expect-no-changes")


def test_a_destroy_leaves_protected_resources_and_what_they_need(things: Project) -> None:
    needs = {"protect": True, "parent": "base"}
    wants(things, base=("x", {}), kept=("x", needs), other=("x", {}))
    things.run("up", *DIRECTLY)
    preview = things.run("destroy", "--preview-only", "--exclude-protected")
    assert "- 1 to delete" in preview.stdout
    done = things.run("destroy", *DIRECTLY, "--exclude-protected")
    assert done.stdout.endswith(
        "All unprotected resources were destroyed. "
        "Still in the stack: 1 protected resource, and 1 resource that they need.\n"
    )
    assert deleted(things) == ["other-x"]
    assert "--exclude-protected" in things.failing("destroy", *DIRECTLY, "--exclude-protected", "--target", urn("base"))
