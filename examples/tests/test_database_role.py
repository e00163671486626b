"""The database-role example: a plugin makes a password, and a dynamic provider gives it to a role of a real server."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from examples.harness import Project, with_stack
from examples.servers.postgres import Database
from examples.tests.vault import files_with, kept_in_vault, remove_from_vault


@pytest.fixture
def project(language: str, tmp_path: Path, database: Database) -> Project:
    project = with_stack(language, "database-role", tmp_path)
    project.env["DATABASE_URL"] = database.url
    return project


def password_of(project: Project) -> str:
    return kept_in_vault(project)["password"]


def test_a_role_takes_the_password_that_a_package_makes(project: Project, database: Database, tmp_path: Path) -> None:
    assert project.preview() == {"create": 3}
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]

    assert project.up() == {"create": 3}
    first = password_of(project)
    assert len(first) == 24
    assert database.roles() == {"app": 5}
    assert database.lets_in("app", first)
    assert not database.lets_in("app", "another")
    assert files_with(first, tmp_path) == []
    assert project.outputs() == {"password": "[secret]", "role": "app"}
    assert project.up() == {"same": 3}

    # In place, by the dynamic provider alone.
    project.must("config", "set", "connectionLimit", "9")
    assert project.preview() == {"same": 2, "update": 1}
    assert database.roles() == {"app": 5}
    assert project.up() == {"same": 2, "update": 1}
    assert database.roles() == {"app": 9}

    # Another password, by the package; the role takes it in place.
    project.must("config", "set", "passwordLength", "32")
    assert project.preview() == {"replace": 1, "same": 1, "update": 1}
    assert password_of(project) == first
    assert project.up() == {"replace": 1, "same": 1, "update": 1}
    second = password_of(project)
    assert len(second) == 32
    assert database.lets_in("app", second)
    assert not database.lets_in("app", first)
    assert [files_with(secret, tmp_path) for secret in (first, second)] == [[], []]

    assert project.destroy() == {"delete": 3}
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]


@pytest.mark.nightly
def test_a_refresh_sees_what_was_done_behind_its_back(project: Project, database: Database) -> None:
    project.up()
    assert project.refresh() == {"same": 3}

    database.execute("ALTER ROLE app CONNECTION LIMIT 1")
    assert project.refresh() == {"same": 2, "update": 1}
    assert project.up() == {"same": 2, "update": 1}
    assert database.roles() == {"app": 5}

    database.execute("DROP ROLE app")
    assert project.refresh() == {"delete": 1, "same": 2}
    assert project.up() == {"create": 1, "same": 2}
    assert database.lets_in("app", password_of(project))


@pytest.mark.nightly
def test_a_password_that_the_vault_lost_is_made_anew_and_given_to_the_role(
    project: Project, database: Database
) -> None:
    project.up()
    lost = password_of(project)
    remove_from_vault(project, "password")

    assert project.refresh() == {"delete": 1, "same": 2}
    assert project.up() == {"create": 1, "same": 1, "update": 1}

    assert not database.lets_in("app", lost)
    assert database.lets_in("app", password_of(project))
    assert project.destroy() == {"delete": 3}
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]


def test_a_role_whose_create_was_killed_before_its_answer_is_found(project: Project, database: Database) -> None:
    with database.holding_commits():
        process = subprocess.Popen(
            [project.cli, "up", "--yes", "--skip-preview"],
            cwd=project.folder,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while not database.held_commits():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        database.end_held_commits()
    assert database.roles() == {"app": 5}
    assert "1 unresolved create" in project.must("stack")

    project.up()

    assert database.roles() == {"app": 5}
    assert database.lets_in("app", password_of(project))
    assert "unresolved" not in project.must("stack")
    assert project.up() == {"same": 3}


@pytest.mark.nightly
def test_a_role_of_somebody_else_is_not_taken_over(project: Project, database: Database) -> None:
    database.execute("CREATE ROLE app LOGIN CONNECTION LIMIT 2")

    done = project.run("up", "--yes", "--skip-preview")

    assert done.returncode != 0
    assert 'role "app" already exists' in done.stdout + done.stderr
    assert database.roles() == {"app": 2}


@pytest.mark.nightly
def test_wrong_inputs_are_named_before_anything_is_made(project: Project, database: Database) -> None:
    project.must("config", "set", "role", "Not A Role")
    said = project.run("preview")
    assert said.returncode != 0
    assert '"Not A Role" is no name for a role' in said.stdout + said.stderr

    project.must("config", "set", "passwordLength", "3")
    said = project.run("preview")
    assert said.returncode != 0
    assert "property length is not valid: must be a whole number from 8 to 256" in said.stdout + said.stderr
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]
