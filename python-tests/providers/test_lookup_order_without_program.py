"""What serves resources where the program fails, is gone or does not run."""

import pytest
from cli import Project

PROVIDER = """
from pathlib import Path
from pulumi.dynamic import CreateResult, ReadResult, ResourceProvider

class Noting(ResourceProvider):
    def create(self, props):
        return CreateResult("made", dict(props))

    def read(self, id_, props):
        Path("read").write_text(id_)
        return ReadResult(id_, props)

    def delete(self, id_, props):
        with Path("deleted").open("a") as notes:
            notes.write(props["name"] + ";")
"""

PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider
from noting import Noting

class Thing(Resource):
    pass

class InProgram(ResourceProvider):
    def create(self, props):
        return CreateResult("made", dict(props))

    def delete(self, id_, props):
        pass

for name in ("a", "b"):
    Thing(Noting(), name, {"name": name})
Thing(InProgram(), "c", {})
"""

ORPHAN = "no provider object for 'urn:pulumi:dev::trial::pulumi-python:dynamic:Resource::c'"


@pytest.fixture
def deployed(project: Project) -> Project:
    """A stack whose resources have providers in a module (a, b) and in the program itself (c)."""
    project.write("noting.py", PROVIDER)
    project.write("__main__.py", PROGRAM)
    project.run("up", "--yes", "--skip-preview", "--stack", "dev")
    return project


def deleted_by(project: Project) -> list[str]:
    return sorted((project.directory / "deleted").read_text().split(";")[:-1])


def test_a_program_that_fails_at_destroy_time_is_a_warning_and_the_rest_goes_on(deployed: Project) -> None:
    deployed.write("__main__.py", "raise RuntimeError('moved on')\n")
    said = deployed.failing("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert "the program failed" in said
    assert "moved on" in said
    assert ORPHAN in said
    assert deleted_by(deployed) == ["a", "b"]


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_program_that_fails_at_destroy_time_is_one_line_where_nothing_is_missed(deployed: Project) -> None:
    deployed.write("__main__.py", PROGRAM.replace('Thing(InProgram(), "c", {})', ""))
    deployed.run("up", "--yes", "--skip-preview", "--stack", "dev")
    deployed.write("__main__.py", "import pulumi\n{}['moved on']\n")
    done = deployed.run("destroy", "--yes", "--skip-preview", "--stack", "dev")
    said = done.stdout + done.stderr
    assert "the program failed (KeyError: 'moved on' (" in said
    assert "__main__.py:2)), and no provider object was missed" in said
    assert "warning" not in said
    assert "Traceback" not in said
    assert deleted_by(deployed) == ["a", "b"]


def test_a_preview_that_knows_that_a_delete_cannot_be_made_says_so_and_fails(deployed: Project) -> None:
    head = PROGRAM.partition("class InProgram")[0]
    deployed.write("__main__.py", head)
    for verb, *flags in (["preview"], ["destroy", "--preview-only"]):
        said = deployed.failing(verb, *flags, "--stack", "dev")
        assert ORPHAN in said
        assert "__main__:InProgram was not found" in said
        assert "2 to delete" in said
    # What it cannot find is asked for by nobody who confirms the others.
    deployed.failing("up", "--yes", "--stack", "dev")
    assert not (deployed.directory / "deleted").exists()
    # Found or registered by hand, it can.
    by_hand = "import maloko\nmaloko.register_provider('InProgram', lambda _: 1 / 0)\n"
    deployed.write("__main__.py", head + by_hand)
    assert "3 to delete" in deployed.run("preview", "--stack", "dev").stdout


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_program_that_is_gone_at_destroy_time_is_a_warning_and_the_rest_goes_on(deployed: Project) -> None:
    (deployed.directory / "__main__.py").unlink()
    said = deployed.failing("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert "the program failed" in said
    assert "__main__.py" in said
    assert ORPHAN in said
    assert deleted_by(deployed) == ["a", "b"]


def test_refresh_and_destroy_without_the_program_use_the_references(deployed: Project) -> None:
    deployed.write("__main__.py", "raise RuntimeError('must not run')\n")
    said = deployed.failing("refresh", "--yes", "--skip-preview", "--no-program", "--stack", "dev")
    assert "must not run" not in said
    assert (deployed.directory / "read").read_text() == "made"
    said = deployed.failing("destroy", "--yes", "--skip-preview", "--no-program", "--stack", "dev")
    assert "must not run" not in said
    assert deleted_by(deployed) == ["a", "b"]
