"""The repository-labels example against a local service that speaks GitHub's protocol, with the real clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.harness import Project, changes_of, labels_project
from examples.servers.labels import LabelService

REPOSITORY = "acme/website"
LABELS = {"bug": "d73a4a", "docs": "0075ca", "good first issue": "7057ff"}


@pytest.fixture
def service() -> Iterator[LabelService]:
    service = LabelService(token="right")
    with service.running():
        yield service


def test_labels_are_made_changed_previewed_and_deleted(language: str, tmp_path: Path, service: LabelService) -> None:
    project = labels_project(language, tmp_path, service.url)

    assert project.preview() == {"create": 4}
    assert service.colors(REPOSITORY) == {}
    assert project.up() == {"create": 4}
    assert service.colors(REPOSITORY) == LABELS
    assert project.outputs()["urls"]["bug"] == f"{service.url}/repos/{REPOSITORY}/labels/bug"

    service.requests.clear()
    assert project.up() == {"same": 4}
    assert not service.requests

    project.must("config", "set", "--path", "labels.bug.color", "B60205")
    assert project.preview() == {"same": 3, "update": 1}
    assert service.colors(REPOSITORY) == LABELS
    assert project.up() == {"same": 3, "update": 1}
    assert service.colors(REPOSITORY) == {**LABELS, "bug": "b60205"}
    assert service.requests["PATCH update_label"] == 1

    project.must("config", "rm", "--path", "labels.docs")
    assert project.up() == {"delete": 1, "same": 3}
    assert "docs" not in service.colors(REPOSITORY)

    assert project.destroy() == {"delete": 3}
    assert service.colors(REPOSITORY) == {}
    assert project.state() == []


def test_a_wrong_colour_is_named_and_nothing_is_made(language: str, tmp_path: Path, service: LabelService) -> None:
    project = labels_project(language, tmp_path, service.url)
    project.must("config", "set", "--path", "labels.docs.color", "#bluish")

    done = project.run("up", "--yes", "--skip-preview")

    assert done.returncode != 0
    assert "docs" in done.stdout + done.stderr
    assert '"#bluish" is not a colour' in done.stdout + done.stderr
    assert "docs" not in service.colors(REPOSITORY)


def test_a_missing_token_is_named(language: str, tmp_path: Path, service: LabelService) -> None:
    project = labels_project(language, tmp_path, service.url, token=None)

    done = project.run("up", "--yes", "--skip-preview")

    assert done.returncode != 0
    assert "githubToken" in done.stdout + done.stderr
    assert not service.requests


@pytest.mark.nightly
def test_a_wrong_token_is_reported_with_the_answer_of_the_service(
    language: str, tmp_path: Path, service: LabelService
) -> None:
    project = labels_project(language, tmp_path, service.url, token="wrong-token-5d1f")

    done = project.run("up", "--yes", "--skip-preview")

    assert done.returncode != 0
    assert "Bad credentials" in done.stdout + done.stderr
    assert "wrong-token-5d1f" not in done.stdout + done.stderr
    assert service.colors(REPOSITORY) == {}


@pytest.mark.nightly
def test_a_label_that_is_there_already_is_taken_over(language: str, tmp_path: Path, service: LabelService) -> None:
    service.create_label("acme", "website", {"name": "bug", "color": "ffffff"}, {})
    project = labels_project(language, tmp_path, service.url)

    assert project.up() == {"create": 4}

    assert service.colors(REPOSITORY) == LABELS


@pytest.mark.nightly
def test_a_label_that_is_gone_can_still_be_destroyed(language: str, tmp_path: Path, service: LabelService) -> None:
    project = labels_project(language, tmp_path, service.url)
    project.up()
    service.delete_label("acme", "website", "bug")

    assert project.destroy() == {"delete": 4}

    assert service.colors(REPOSITORY) == {}


@pytest.mark.nightly
def test_refresh_stores_what_the_service_says(language: str, tmp_path: Path, service: LabelService) -> None:
    project = labels_project(language, tmp_path, service.url)
    project.up()
    service.update_label("acme", "website", "docs", {"color": "123abc"})

    project.must("refresh", "--yes", "--skip-preview")

    colors = {
        resource["outputs"]["label"]: resource["outputs"]["color"]
        for resource in project.state()
        if "url" in resource["outputs"]
    }
    assert colors["docs"] == "123abc"


def add_to_program(project: Project, python: str, typescript: str) -> None:
    name, text = ("__main__.py", python) if project.language == "python" else ("index.ts", typescript)
    with (project.folder / name).open("a") as program:
        program.write(f"\n{text}\n")


@pytest.mark.nightly
def test_a_label_edited_behind_the_engines_back_is_put_right(
    language: str, tmp_path: Path, service: LabelService
) -> None:
    project = labels_project(language, tmp_path, service.url)
    project.up()
    service.update_label("acme", "website", "docs", {"color": "123abc"})
    service.delete_label("acme", "website", "bug")

    shown = project.must("preview", "--refresh", "--diff")
    assert '"0075ca" => "123abc"' in shown
    assert changes_of(project.must("up", "--refresh", "--yes", "--skip-preview", "--json")) == {
        "create": 1,
        "same": 2,
        "update": 1,
    }
    assert service.colors(REPOSITORY) == LABELS


@pytest.mark.nightly
def test_a_label_of_somebody_else_is_looked_up_and_never_deleted(
    language: str, tmp_path: Path, service: LabelService
) -> None:
    service.create_label("acme", "website", {"name": "help wanted", "color": "008672"}, {})
    project = labels_project(language, tmp_path, service.url)
    id_ = f"{REPOSITORY}/help wanted"
    add_to_program(
        project,
        f'seen = Label.get("seen", "{id_}")\npulumi.export("seen", seen.color)',
        f'export const seen = Label.get("seen", "{id_}").color;',
    )

    project.up()
    assert project.outputs()["seen"] == "008672"
    service.update_label("acme", "website", "help wanted", {"color": "123abc"})
    project.up()
    assert project.outputs()["seen"] == "123abc"

    project.destroy()
    assert service.colors(REPOSITORY) == {"help wanted": "123abc"}


@pytest.mark.nightly
def test_a_label_that_exists_is_imported(language: str, tmp_path: Path, service: LabelService) -> None:
    service.create_label("acme", "website", {"name": "help wanted", "color": "008672"}, {})
    project = labels_project(language, tmp_path, service.url)
    id_ = f"{REPOSITORY}/help wanted"
    add_to_program(
        project,
        f'Label("help", repository="{REPOSITORY}", label="help wanted", color="008672",\n'
        f'      opts=pulumi.ResourceOptions(import_="{id_}"))',
        f'new Label("help", {{ repository: "{REPOSITORY}", label: "help wanted", color: "008672" }},\n'
        f'    {{ import: "{id_}" }});',
    )

    assert project.up() == {"create": 4, "import": 1}
    assert project.up() == {"same": 5}
    assert service.colors(REPOSITORY) == {**LABELS, "help wanted": "008672"}
    project.destroy()
    assert service.colors(REPOSITORY) == {}
