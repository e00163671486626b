"""`--refresh` of operations other than `refresh`."""

import json

import pytest
from cli import Project

PROGRAM = """
import json, pathlib, threading
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, ResourceProvider, UpdateResult

WORLD = pathlib.Path("world.json")
LOCK = threading.Lock()


def change(edit):
    with LOCK:
        world = json.loads(WORLD.read_text()) if WORLD.exists() else {}
        edit(world)
        WORLD.write_text(json.dumps(world))


def make_provider(lock):
    class Provider(ResourceProvider):
        def __init__(self):
            self.lock = lock

        def diff(self, id_, olds, news):
            return DiffResult(olds["size"] != news["size"])

        def create(self, props):
            change(lambda world: world.update({props["name"]: props["size"]}))
            return CreateResult(props["name"], props)

        def read(self, id_, props):
            with LOCK:
                world = json.loads(WORLD.read_text())
            return ReadResult(id_, {**props, "size": world[id_]}) if id_ in world else ReadResult("", {})

        def update(self, id_, olds, news):
            change(lambda world: world.update({id_: news["size"]}))
            return UpdateResult(news)

        def delete(self, id_, props):
            change(lambda world: world.pop(id_))

    return Provider


class Shared(make_provider(None)):
    pass


class Thing(Resource):
    def __init__(self, provider, name, size):
        super().__init__(provider, name, {"name": name, "size": size})


Thing(Shared(), "shared", 1)
Thing(make_provider(object())(), "own", 1)
Thing(make_provider(object())(), "lost", 1)
"""


def world(project: Project) -> dict[str, int]:
    return {name: int(size) for name, size in json.loads((project.directory / "world.json").read_text()).items()}


@pytest.fixture
def drifted(project: Project) -> Project:
    """Three resources, of which two have another size by now and the third is gone."""
    project.write("__main__.py", PROGRAM)
    project.run("up", "--yes")
    assert world(project) == {"shared": 1, "own": 1, "lost": 1}
    project.write("world.json", json.dumps({"shared": 7, "own": 8}))
    return project


def test_up_refresh_mends_drift_and_loss_in_one_run(drifted: Project) -> None:
    assert "1 to create" in drifted.run("preview", "--refresh").stdout
    drifted.run("up", "--refresh", "--yes")
    assert world(drifted) == {"shared": 1, "own": 1, "lost": 1}
    drifted.run("up", "--refresh", "--yes", "--skip-preview", "--expect-no-changes")


def test_destroy_refresh_does_not_delete_what_is_gone(drifted: Project) -> None:
    drifted.failing("destroy", "--yes", "--skip-preview")
    drifted.run("destroy", "--refresh", "--yes", "--skip-preview", "--remove")
    assert world(drifted) == {}
    assert "no stack named 'dev'" in drifted.failing("preview", "--stack", "dev")


def test_options_refresh_makes_it_the_rule(drifted: Project) -> None:
    drifted.run("preview", "--expect-no-changes")
    drifted.write("Pulumi.yaml", "name: trial\nruntime: python\noptions:\n  refresh: always\n")
    drifted.run("preview", "--expect-no-changes", code=7)
    drifted.run("preview", "--expect-no-changes", "--refresh=false")
