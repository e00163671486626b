"""What becomes of resources when the code of their provider changes."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli import Project
from kit import Thing
from stacks import Run, Stack

SOURCE = """
from pulumi.dynamic import CreateResult, DiffResult, ResourceProvider, UpdateResult


class Base(ResourceProvider):
    def create(self, props):
        return CreateResult("made", dict(props))


class Label(Base):
    def diff(self, _id, olds, news):
        return DiffResult(changes=False)

    def update(self, _id, _olds, news):
        texts = {'one': "first", **news}
        return UpdateResult(texts)
"""

Write = Callable[..., Any]


@pytest.fixture
def label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a module and gives its class, as another run of the program would import it."""

    def write(source: str = SOURCE, *, folder: str = "one", name: str = "Label") -> Any:
        file = tmp_path / folder / "labels_under_test.py"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(source.encode())
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.syspath_prepend(str(file.parent))
        monkeypatch.delitem(sys.modules, "labels_under_test", raising=False)
        return getattr(importlib.import_module("labels_under_test"), name)

    return write


def versioned(version: object, source: str = SOURCE) -> str:
    return source.replace("class Label(Base):\n", f"class Label(Base):\n    provider_version = {version!r}\n")


def up(stack: Stack, kind: Any, **options: bool) -> Run:
    return stack.up(lambda: [Thing(kind(), name) for name in "abc"], **options)


def assert_made(result: Run) -> None:
    assert result.changes == {"create": 4}


def assert_unchanged(result: Run) -> None:
    assert result.changes == {"same": 4}
    assert [text for _, _, text in result.diagnostics] == []


def test_a_version_that_rises_updates_once_although_diff_says_no_change(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label(versioned(1))))
    result = up(stack, label(versioned(2)))
    assert result.changes == {"same": 1, "update": 3}
    assert result.messages("info") == ["provider_version rose from 1 to 2: Label (3 resources). They are updated"]
    assert_unchanged(up(stack, label(versioned(2))))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_version_that_rises_replaces_where_diff_says_so(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label(versioned(1))))
    replacing = SOURCE.replace("changes=False", "changes=False, replaces=['zone']")
    result = up(stack, label(versioned(2, replacing)))
    assert result.changes == {"same": 1, "replace": 3}
    assert_unchanged(up(stack, label(versioned(2, replacing))))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_version_that_falls_is_a_warning_and_no_update(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label(versioned(2))))
    result = up(stack, label(versioned(1)))
    assert result.changes == {"same": 4}
    (warning,) = result.messages("warning")
    assert "provider_version fell from 2 to 1: Label (3 resources). They are not updated" in warning
    assert_unchanged(up(stack, label(versioned(2))))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_version_that_comes_or_goes_changes_nothing(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    assert_unchanged(up(stack, label(versioned(1))))
    assert_unchanged(up(stack, label()))
    assert up(stack, label(versioned(2))).changes == {"same": 1, "update": 3}


def test_the_version_is_no_input_and_no_output(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label(versioned(7))))
    resource = stack.resources()["a"]
    assert set(resource["inputs"]) == {"__provider"}
    assert set(resource["outputs"]) == {"__provider"}


@pytest.mark.parametrize("version", ["2", 1.5, True, -1])
def test_a_version_that_is_no_whole_number_is_an_error_that_says_so(
    stack: Stack, label: Write, version: object
) -> None:
    with pytest.raises(TypeError, match=r"provider_version of Label is .*; it must be a whole number"):
        up(stack, label(versioned(version)))


def test_changed_code_is_told_of_once_per_class_and_nothing_is_updated(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    changed = SOURCE.replace('"first"', '"second"')
    result = up(stack, label(changed))
    assert result.changes == {"same": 4}
    (told,) = result.messages("info")
    assert told.startswith("provider code changed since the last update: Label (3 resources).")
    assert "--update-changed-providers" in told
    # It stays true until they are updated, or the change is taken back.
    assert up(stack, label(changed)).messages("info") == [told]
    assert_unchanged(up(stack, label()))


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_resources_of_changed_providers_are_updated_on_request(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    changed = SOURCE.replace('"first"', '"second"')
    result = up(stack, label(changed), update_changed_providers=True)
    assert result.changes == {"same": 1, "update": 3}
    assert stack.resources()["a"]["outputs"]["one"] == "second"
    assert_unchanged(up(stack, label(changed), update_changed_providers=True))


REFORMATTED = """# Reformatted, with comments.
from pulumi.dynamic import (
    CreateResult, DiffResult, ResourceProvider, UpdateResult,
)


class Base(ResourceProvider):

    def create(
        self,
        props,
    ):  # makes it
        return (CreateResult('made', dict(props)))


class Label(Base):
    '''A label.'''

    def diff(self, _id, olds, news):
        '''Says that nothing changed.'''
        return DiffResult(
            changes=False,
        )

    def update(self, _id, _olds, news):
        texts = {
            "one": ('fir' 'st'),
            **news,
        }
        return UpdateResult(texts)
"""


def test_formatting_comments_line_ends_and_places_are_no_change_of_code(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    assert_unchanged(up(stack, label(REFORMATTED)))
    assert_unchanged(up(stack, label(REFORMATTED.replace("\n", "\r\n"))))
    assert_unchanged(up(stack, label(folder="two")))
    assert_unchanged(up(stack, label("import os\n" + SOURCE + "\n\nunrelated = 1\n")))


def test_a_change_of_a_base_class_of_the_project_is_a_change_of_code(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    (told,) = up(stack, label(SOURCE.replace('"made"', '"other"'))).messages("info")
    # Only the class whose own code changed is named.
    assert "Base (3 resources)" in told
    assert "Label" not in told


SIDE_METHODS = """
    def find(self, key, _props):
        return None

    def read(self, id_, props):
        return props

    def delete(self, _id, _props):
        self._log("gone")

    def close(self):
        pass
"""


def test_changes_that_cannot_matter_are_no_change_of_code(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    added = SOURCE + SIDE_METHODS
    assert_unchanged(up(stack, label(added)))
    assert_unchanged(up(stack, label(added.replace("return None", "return 1"))))
    assert_unchanged(up(stack, label(SOURCE.replace("changes=False", "changes=bool(0)"))))
    # What `create` or `update` call is theirs.
    calling = added.replace("return UpdateResult(texts)", "return UpdateResult(self.read(_id, texts))")
    (told,) = up(stack, label(calling), update_changed_providers=True).messages("info")
    assert "Label (3 resources)" in told
    (told,) = up(stack, label(calling.replace("return props", "return {**props}"))).messages("info")
    assert "Label (3 resources)" in told


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_changed_code_is_told_of_in_one_line_that_can_be_dismissed(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    changed = SOURCE.replace('"first"', '"second"').replace('"made"', '"other"')
    (told,) = up(stack, label(changed)).messages("info")
    assert "update: Base (3 resources), Label (3 resources). They stay" in told
    assert "`maloko config set maloko:codeChanges ignore`" in told
    stack.config["maloko:codeChanges"] = "ignore"
    assert_unchanged(up(stack, label(changed)))
    stack.config["maloko:codeChanges"] = "off"
    (refused,) = stack.run("update", label(changed)).messages("error")
    assert "'maloko:codeChanges' is 'off', and can only be 'ignore'" in refused


def test_a_class_that_only_has_another_name_is_no_change_of_code(stack: Stack, label: Write) -> None:
    assert_made(up(stack, label()))
    assert_unchanged(up(stack, label(SOURCE.replace("class Label", "class Tag"), name="Tag")))


PROGRAM = """
from pulumi.dynamic import Resource
from labels import Label

class Thing(Resource):
    pass

for name in "abc":
    Thing(Label(), name, {})
"""


def test_preview_and_up_tell_of_changed_code_and_take_the_flag(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    project.write("labels.py", SOURCE)
    project.run("up", "--yes", "--skip-preview", "--stack", "dev")
    project.write("labels.py", SOURCE.replace('"first"', '"second"'))
    told = "provider code changed since the last update: Label (3 resources)"
    assert project.run("preview", "--stack", "dev", "--expect-no-changes").stdout.count(told) == 1
    assert told in project.run("up", "--yes", "--skip-preview", "--stack", "dev", "--expect-no-changes").stdout
    said = project.run("up", "--yes", "--stack", "dev", "--update-changed-providers").stdout
    assert "3 updated" in said
    assert told not in project.run("preview", "--stack", "dev", "--expect-no-changes").stdout
