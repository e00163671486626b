"""The widgets example against a local service; its token comes from the environment at call time."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.harness import Project, changes_of, with_stack
from examples.servers.widgets import WidgetService


@pytest.fixture
def service() -> Iterator[WidgetService]:
    service = WidgetService(token="right")
    with service.running():
        yield service


@pytest.fixture
def project(language: str, tmp_path: Path, service: WidgetService) -> Project:
    project = with_stack(language, "widgets", tmp_path)
    project.env |= {"WIDGETS_URL": service.url, "WIDGETS_TOKEN": "right"}
    return project


def sizes(service: WidgetService) -> dict[str, str]:
    return {widget["name"]: widget["size"] for widget in service.widgets.values()}


def test_widgets_are_made_changed_previewed_and_deleted(project: Project, service: WidgetService) -> None:
    assert project.up() == {"create": 3}
    assert sizes(service) == {"dial of dev": "small", "lever of dev": "large"}
    assert project.up() == {"same": 3}

    project.must("config", "set", "--path", "sizes.dial", "medium")
    assert project.preview() == {"same": 2, "update": 1}
    assert sizes(service)["dial of dev"] == "small"
    assert project.up() == {"same": 2, "update": 1}
    assert sizes(service)["dial of dev"] == "medium"

    outputs = project.outputs()
    revision = (outputs if project.language == "python" else outputs["widgets"])["dial"]["revision"]
    assert revision == 2
    assert project.destroy() == {"delete": 3}
    assert service.widgets == {}


def test_a_create_that_is_killed_before_its_answer_makes_one_widget(project: Project, service: WidgetService) -> None:
    service.answers.clear()
    process = subprocess.Popen(
        [project.cli, "up", "--yes", "--skip-preview"],
        cwd=project.folder,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Both widgets are made, and nobody has been told.
    for _ in range(2):
        assert service.held.acquire(timeout=100)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    service.answers.set()
    first_keys = set(service.keys)
    assert service.made == len(first_keys) == 2

    said = project.must("stack")
    assert "2 unresolved creates" in said
    assert all(key in said for key in first_keys)

    assert project.up()["create"] == 2
    assert service.made == 2
    assert set(service.keys) == first_keys
    assert sizes(service) == {"dial of dev": "small", "lever of dev": "large"}
    assert "unresolved" not in project.must("stack")
    assert project.up() == {"same": 3}
    assert project.destroy() == {"delete": 3}
    assert service.widgets == {}


@pytest.mark.nightly
def test_a_missing_token_is_named(project: Project, service: WidgetService) -> None:
    del project.env["WIDGETS_TOKEN"]

    done = project.run("up", "--yes", "--skip-preview")

    assert done.returncode != 0
    assert "WIDGETS_TOKEN is not set" in done.stdout + done.stderr
    assert service.widgets == {}


@pytest.mark.nightly
def test_a_destroy_uses_the_token_of_its_day(project: Project, service: WidgetService) -> None:
    project.up()
    service.token = project.env["WIDGETS_TOKEN"] = "new"

    assert project.destroy() == {"delete": 3}

    assert service.widgets == {}


def test_the_token_is_in_no_file(project: Project, service: WidgetService, tmp_path: Path) -> None:
    service.token = project.env["WIDGETS_TOKEN"] = "canary-7f3a91"
    project.up()

    files = [path for path in tmp_path.rglob("*") if path.is_file() and "node_modules" not in path.parts]

    assert files
    assert not [path for path in files if b"canary-7f3a91" in path.read_bytes()]


def made_by_hand(service: WidgetService) -> Any:
    """A widget that no program made."""
    _, widget = service.create_widget({"name": "lamp", "size": "medium"}, {})
    return widget


def add_to_program(project: Project, python: str, typescript: str) -> None:
    name, text = ("__main__.py", python) if project.language == "python" else ("index.ts", typescript)
    with (project.folder / name).open("a") as program:
        program.write(f"\n{text}\n")


def refresh(project: Project) -> dict[str, int]:
    return changes_of(project.must("refresh", "--yes", "--skip-preview", "--json"))


def test_a_refresh_sees_what_was_edited_and_removed_behind_its_back(project: Project, service: WidgetService) -> None:
    project.up()
    by_name = {widget["name"]: widget for widget in service.widgets.values()}
    by_name["dial of dev"]["size"] = "large"
    del service.widgets[by_name["lever of dev"]["id"]]

    assert refresh(project) == {"delete": 1, "same": 1, "update": 1}
    assert project.up() == {"create": 1, "same": 1, "update": 1}
    assert sizes(service) == {"dial of dev": "small", "lever of dev": "large"}
    assert refresh(project) == {"same": 3}


@pytest.mark.nightly
def test_a_widget_of_somebody_else_is_looked_up_and_never_deleted(project: Project, service: WidgetService) -> None:
    id_ = made_by_hand(service)["id"]
    add_to_program(
        project,
        f'seen = Widget.get("seen", "{id_}")\npulumi.export("seen", seen.size)',
        f'export const seen = Widget.get("seen", "{id_}").size;',
    )
    project.up()
    assert project.outputs()["seen"] == "medium"

    service.widgets[id_]["size"] = "large"
    project.up()
    assert project.outputs()["seen"] == "large"

    project.destroy()
    assert list(service.widgets) == [id_]


@pytest.mark.nightly
def test_a_widget_that_exists_is_imported(project: Project, service: WidgetService) -> None:
    id_ = made_by_hand(service)["id"]
    add_to_program(
        project,
        f'Widget("lamp", title="lamp", size="medium", opts=pulumi.ResourceOptions(import_="{id_}"))',
        f'new Widget("lamp", {{ title: "lamp", size: "medium" }}, {{ import: "{id_}" }});',
    )
    assert project.up() == {"create": 3, "import": 1}
    assert project.up() == {"same": 4}
    project.destroy()
    assert service.widgets == {}
