"""State in a directory that several people share."""

import stat
from pathlib import Path

import pytest
from cli import Project

PROGRAM = """
import os
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Things(ResourceProvider):
    def create(self, props):
        return CreateResult("1", props)


class Thing(Resource):
    pass


Thing(Things(), "thing", {"size": os.environ["SIZE"]})
"""


def shared(directory: Path, directories: int, files: int) -> Path:
    """A directory as Pulumi makes it for a stack without resources, with these modes."""
    stacks = directory / ".pulumi" / "stacks" / "trial"
    stacks.mkdir(parents=True)
    (directory / ".pulumi" / "meta.yaml").write_text("version: 1\n")
    (stacks / "dev.json").write_text(
        '{"version":3,"checkpoint":{"stack":"organization/trial/dev","latest":{"manifest":{},"metadata":{}}}}'
    )
    for path in [directory, *directory.rglob("*")]:
        path.chmod(directories if path.is_dir() else files)
    return directory


def modes(directory: Path) -> dict[str, int]:
    return {str(path.relative_to(directory)): stat.S_IMODE(path.stat().st_mode) for path in directory.rglob("*")}


@pytest.mark.parametrize(
    ("directories", "files"), [(0o2770, 0o660), pytest.param(0o2775, 0o664, marks=pytest.mark.nightly), (0o755, 0o600)]
)
def test_what_exists_keeps_its_mode_and_new_files_beside_it_take_its_mode(
    tmp_path: Path, directories: int, files: int
) -> None:
    project = Project(tmp_path)
    project.write("__main__.py", PROGRAM)
    team = shared(tmp_path / "team", directories, files)
    before = modes(team)
    for size in ("1", "2"):
        project.run("up", "--yes", "--skip-preview", "-s", "dev", "--backend", f"file://{team}", SIZE=size)
    after = modes(team)
    assert {path: mode for path, mode in after.items() if path in before} == before
    new = {path: mode for path, mode in after.items() if path not in before}
    assert len(new) > 8
    for path, mode in new.items():
        assert mode == (directories if (team / path).is_dir() else files), path


def test_what_maloko_makes_from_nothing_is_private(project: Project, tmp_path: Path) -> None:
    project.write("__main__.py", PROGRAM)
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    where = ("--backend", f"file://{own}")
    project.run("stack", "init", "other", *where)
    project.run("up", "--yes", "--skip-preview", "-s", "other", *where, SIZE="1")
    for path, mode in modes(own).items():
        assert mode == (0o700 if (own / path).is_dir() else 0o600), path
