"""`watch` follows what a program is loaded from outside of its project."""

import subprocess
from pathlib import Path

import pytest
from cli import Project, read_until, watched

WAITS = "Waiting for changes"


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


def begins(shared: Path, body: str) -> str:
    """A program that imports from there, by a path as people write it."""
    return f"import sys\nsys.path.append('../{shared.name}')\n{body}"


def runs_anew(watching: subprocess.Popen[str], changed: str, words: str) -> None:
    """This is the next file that changes, and the program of then says that."""
    assert f"{changed} changed\n" in read_until(watching, " changed")
    read_until(watching, words)
    read_until(watching, WAITS)


def test_watch_follows_modules_outside_of_the_project_while_they_are_imported(project: Project, shared: Path) -> None:
    label = shared / "space" / "label.py"
    label.parent.mkdir()
    label.write_text("VALUE = 'one'")
    project.write("__main__.py", begins(shared, "from space import label\nprint('label', label.VALUE)"))
    with watched(project) as watching:
        read_until(watching, "label one")
        read_until(watching, WAITS)
        label.with_name("unused.py").write_text("")
        label.write_text("VALUE = 'two, anew'")
        runs_anew(watching, f"../{shared.name}/space/label.py", "label two, anew")
        project.write("__main__.py", "print('nothing')")
        runs_anew(watching, "__main__.py", "nothing")
        label.write_text("VALUE = 3")
        project.write("own.py", "")
        runs_anew(watching, "own.py", "nothing")


def test_watch_follows_what_a_failed_run_was_loaded_from_and_those_before_it(project: Project, shared: Path) -> None:
    (shared / "first.py").write_text("VALUE = ")
    (shared / "second.py").write_text("VALUE = 2")
    project.write("__main__.py", begins(shared, "import first, second\nprint('values', first.VALUE, second.VALUE)"))
    with watched(project) as watching:
        read_until(watching, "SyntaxError")
        read_until(watching, WAITS)
        (shared / "first.py").write_text("VALUE = 1")
        runs_anew(watching, f"../{shared.name}/first.py", "values 1 2")
        (shared / "first.py").write_text("raise ValueError('broken')")
        runs_anew(watching, f"../{shared.name}/first.py", "ended with exit code")
        (shared / "second.py").write_text("VALUE = 'second'")
        runs_anew(watching, f"../{shared.name}/second.py", "ended with exit code")
        (shared / "first.py").write_text("VALUE = 'first'")
        runs_anew(watching, f"../{shared.name}/first.py", "values first second")


@pytest.mark.nightly
def test_watch_does_not_run_for_ever_for_a_module_outside_that_each_run_writes(project: Project, shared: Path) -> None:
    writes = f"import time\nopen('../{shared.name}/made.py', 'w').write(f'AT = {{time.time_ns()}}')\nimport made"
    project.write("__main__.py", begins(shared, writes))
    with watched(project) as watching:
        said = read_until(watching, WAITS)
        assert f"../{shared.name}/made.py changes in each run: the program writes it" in said
        (shared / "made.py").write_text("by = 'hand'")
        assert f"../{shared.name}/made.py changed" in read_until(watching, " changed")


def test_only_the_given_paths_count(project: Project, shared: Path) -> None:
    (shared / "label.py").write_text("VALUE = 1")
    project.write("__main__.py", begins(shared, "import label\nprint('label', label.VALUE)"))
    with watched(project, "--path", ".") as watching:
        read_until(watching, WAITS)
        (shared / "label.py").write_text("VALUE = 'two'")
        project.write("own.py", "")
        runs_anew(watching, "own.py", "label two")
