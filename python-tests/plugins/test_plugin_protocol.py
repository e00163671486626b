"""What plugins and the engine tell each other beside inputs and outputs, on the command line: reads before updates,
bytes, views, and the state that another build of a plugin left."""

import json
import os
from pathlib import Path

from cli import Project
from plugged import DESTROY, UP, Plugged, inputs


def test_an_object_whose_plugin_asks_for_it_is_read_before_its_update(plugged: Plugged) -> None:
    wanted = inputs(readFirst=True, text="mine")
    plugged.project.run(*UP, INPUTS=wanted)
    assert '"refreshBeforeUpdate":true' in plugged.project.state().replace(" ", "")
    assert "3 unchanged" in plugged.project.run(*UP, INPUTS=wanted).stdout
    (made,) = plugged.world.iterdir()
    made.write_text(made.read_text().replace("mine", "theirs"))
    assert "2 to update" in plugged.project.run("preview", INPUTS=wanted).stdout
    plugged.project.run(*UP, INPUTS=wanted)
    assert json.loads(made.read_text())["text"] == "mine"
    made.unlink()
    plugged.project.run(*UP, INPUTS=wanted)
    assert made.exists()
    # What no longer asks for it is not read.
    plugged.project.run(*UP, INPUTS=inputs(text="mine"))
    made.write_text(made.read_text().replace("mine", "theirs"))
    assert "3 unchanged" in plugged.project.run(*UP, INPUTS=inputs(text="mine")).stdout


def test_bytes_of_a_plugin_are_kept_and_handed_back_and_the_program_is_told_of_them(plugged: Plugged) -> None:
    project = plugged.project
    said = project.failing(*UP, INPUTS=inputs(raw="AP/+"))
    assert "the program's SDK cannot take the value of the property 'bytes'" in said
    assert "base64" in said
    exported = json.loads(project.run("stack", "export").stdout)
    assert (exported["version"], exported["features"]) == (4, ["byteString"])
    states = exported["deployment"]["resources"]
    (thing,) = [resource for resource in states if resource["type"] == "probe:index:Thing"]
    marked = {"4dabf18193072939515e22adb298388d": "803fd3297a5875dc03ca845dda5d2a98", "value": "AP/+"}
    assert thing["outputs"]["bytes"] == marked
    assert "the plugin cannot take the value of the property 'bytes'" in project.failing(
        *DESTROY, PROBE_FLAGS="noBytes"
    )
    assert r"delete got b'\x00\xff\xfe'" in project.run(*DESTROY).stdout
    assert plugged.objects() == []
    assert "features" not in json.loads(project.run("stack", "export").stdout)


THING_ALONE = """
import json, os
import pulumi

class Thing(pulumi.CustomResource):
    def __init__(self, name, props):
        super().__init__("probe:index:Thing", name, props)

Thing("thing", {"say": pulumi.Output.secret("well-kept"), **json.loads(os.environ["INPUTS"])})
"""


# In Python alone: the engine marks what a plugin returns, in Rust.
def test_a_secret_input_that_is_no_output_stays_secret_when_its_plugin_knows_no_secrets(plugged: Plugged) -> None:
    project = plugged.project
    project.write("__main__.py", THING_ALONE)
    project.environment["PROBE_FLAGS"] = "noSecrets"
    wanted = inputs(size=1, writeOnly=["say"])
    project.run(*UP, INPUTS=wanted)
    (made,) = plugged.world.iterdir()
    made.write_text(made.read_text().replace('"size": 1', '"size": 2'))
    said = project.run("refresh", "--yes", "--skip-preview", "--diff").stdout
    assert "size" in said
    (thing,) = [
        it for it in json.loads(project.state())["checkpoint"]["latest"]["resources"] if it.get("id") == made.stem
    ]
    assert "say" not in thing["outputs"]
    assert "ciphertext" in thing["inputs"]["say"]
    assert "well-kept" not in said + plugged.written()


def parts_of(project: Project) -> dict[str, object]:
    """The views in the state, by name."""
    states = json.loads(project.run("stack", "export").stdout)["deployment"].get("resources", [])
    views = [state for state in states if state["type"] == "probe:index:Part"]
    assert all(view["parent"] == view["viewOf"] and view["viewOf"].endswith(":Thing::thing") for view in views)
    return {view["urn"].rsplit("::", 1)[-1]: view["inputs"]["value"] for view in views}


def test_views_of_a_resource_are_shown_kept_and_deleted_with_it(plugged: Plugged) -> None:
    project = plugged.project
    first = inputs(parts={"a": 1, "b": 2})
    assert project.run("preview", INPUTS=first).stdout.count(" Part ") == 2
    assert "+ 5 created" in project.run(*UP, INPUTS=first).stdout
    assert parts_of(project) == {"a": 1, "b": 2}
    exported = json.loads(project.run("stack", "export").stdout)
    assert "views" in exported["features"]
    assert "5 unchanged" in project.run(*UP, INPUTS=first).stdout
    assert parts_of(project) == {"a": 1, "b": 2}

    said = project.run(*UP, INPUTS=inputs(parts={"b": 3, "c": 4})).stdout
    assert "+ 1 created" in said
    assert "- 1 deleted" in said
    assert parts_of(project) == {"b": 3, "c": 4}

    # As the world is: the plugin tells of it when it is asked for its owner.
    (made,) = plugged.world.iterdir()
    made.write_text(made.read_text().replace('"c": 4', '"c": 5'))
    project.run("refresh", "--yes", "--skip-preview")
    assert parts_of(project) == {"b": 3, "c": 5}

    assert project.run("destroy", "--preview-only").stdout.count(" Part ") == 2
    assert "- 5 deleted" in project.run(*DESTROY).stdout
    assert parts_of(project) == {}


# In Python alone: the same Rust code, asked once; in Node another test shows that it is there
def test_views_of_which_a_plugin_says_nothing_go_with_their_resource(plugged: Plugged) -> None:
    project = plugged.project
    project.run(*UP, INPUTS=inputs(parts={"a": 1}, quietParts=True))
    project.run(*DESTROY)
    assert parts_of(project) == {}


# In Python alone: the same Rust code, asked once; in Node another test shows that it is there
def test_a_replacement_leaves_the_views_of_the_new_object(plugged: Plugged) -> None:
    project = plugged.project
    project.run(*UP, INPUTS=inputs(parts={"a": 1, "b": 2}))
    project.run(*UP, INPUTS=inputs(parts={"a": 3}, size=2))
    assert parts_of(project) == {"a": 3}


# In Python alone: the same Rust code, asked once; in Node another test shows that it is there
def test_a_view_that_failed_fails_the_run_and_its_resource_is_kept(plugged: Plugged) -> None:
    said = plugged.project.failing(*UP, INPUTS=inputs(parts={"a": 1, "b": 2}, brokenPart="b"))
    assert "the part is broken" in said
    assert parts_of(plugged.project) == {"a": 1}
    assert "thing" in plugged.resources()


def calls_of(plugged: Plugged, method: str) -> list[dict[str, object]]:
    """The calls of a method since this was asked before, in order, with what came along."""
    calls = [json.loads(line) for line in (plugged.world / ".calls").read_text().splitlines()]
    return [call for call in calls if call["method"] == method]


def test_another_build_of_a_plugin_gets_the_old_state_and_upgrades_it(without: Plugged) -> None:
    project = without.project
    without.put_on_path(Path(__file__).with_name("two_builds_plugin.py"))
    project.run(*UP, BUILD="1")
    old = {"cents": 100}

    # The inputs are upgraded by Check, and with Diff's consent nothing is updated.
    said = project.run(*UP, BUILD="2").stdout
    assert "3 unchanged" in said
    (*_, checked) = calls_of(without, "Check")
    assert (checked["olds"], checked["news"]) == (old, {"size": 1})
    assert isinstance(outputs := checked["old_outputs"], dict)
    assert outputs["cents"] == 100
    assert outputs["url"] == "http://here-thing"
    (*_, diffed) = calls_of(without, "Diff")
    assert (diffed["old_inputs"], diffed["news"]) == (old, {"price": {"cents": 100}})
    assert isinstance(diffed["olds"], dict)
    assert diffed["olds"]["cents"] == 100

    # The outputs are upgraded by Read, which gets them as the first build left them.
    project.run("refresh", "--yes", "--skip-preview", BUILD="2")
    (read,) = calls_of(without, "Read")
    assert isinstance(read["properties"], dict)
    assert (read["properties"]["cents"], read["inputs"]) == (100, {"price": {"cents": 100}})
    states = json.loads(project.state())["checkpoint"]["latest"]["resources"]
    (thing,) = [state for state in states if state["type"] == "probe:index:Thing"]
    assert thing["outputs"]["price"] == {"cents": 100}
    assert "cents" not in thing["outputs"]

    project.run(*UP, BUILD="2", INPUTS=inputs(size=2))
    (updated,) = calls_of(without, "Update")
    assert isinstance(updated["olds"], dict)
    assert (updated["olds"]["price"], updated["news"]) == ({"cents": 100}, {"price": {"cents": 200}})
    project.run(*DESTROY, BUILD="2")
    (deleted,) = calls_of(without, "Delete")
    assert isinstance(deleted["properties"], dict)
    assert deleted["properties"]["price"] == {"cents": 200}
    os.close(without.alive)
