"""The database-team example: a component of a plugin makes passwords with another plugin, dynamic roles take them."""

from pathlib import Path

import pytest

from examples.harness import EXAMPLES, Project, with_stack
from examples.servers.postgres import Database
from examples.tests.vault import files_with, kept_in_vault, remove_from_vault

ONE_LANGUAGE_BY_DAY = True


@pytest.fixture
def project(language: str, tmp_path: Path, database: Database) -> Project:
    project = with_stack(language, "database-team", tmp_path)
    project.env["DATABASE_URL"] = database.url
    return project


@pytest.mark.nightly
def test_each_member_of_a_team_has_a_role_and_a_password(project: Project, database: Database, tmp_path: Path) -> None:
    assert project.preview() == {"create": 6}
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]

    assert project.up() == {"create": 6}
    first = kept_in_vault(project)
    assert database.roles() == {"ada": -1, "grace": -1}
    assert database.lets_in("ada", first["team-ada"])
    assert database.lets_in("grace", first["team-grace"])
    assert not database.lets_in("grace", first["team-ada"])
    assert [files_with(password, tmp_path) for password in first.values()] == [[], []]
    assert project.outputs() == {"passwords": "[secret]", "roles": {"ada": "ada", "grace": "grace"}}
    assert project.up() == {"same": 6}

    project.must("config", "set", "--path", "members[2]", "mary")
    assert project.preview() == {"create": 2, "same": 6}
    assert kept_in_vault(project) == first
    assert project.up() == {"create": 2, "same": 6}
    assert kept_in_vault(project).keys() == {"team-ada", "team-grace", "team-mary"}
    assert database.lets_in("ada", first["team-ada"])
    assert database.lets_in("mary", kept_in_vault(project)["team-mary"])

    assert project.destroy() == {"delete": 8}
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]


@pytest.mark.nightly
def test_what_a_team_lost_is_made_anew(project: Project, database: Database) -> None:
    project.up()
    assert project.refresh() == {"same": 6}
    kept = kept_in_vault(project)
    database.execute("DROP ROLE grace")
    remove_from_vault(project, "team-ada")

    assert project.refresh() == {"delete": 2, "same": 4}
    assert project.up() == {"create": 2, "same": 3, "update": 1}

    now = kept_in_vault(project)
    assert not database.lets_in("ada", kept["team-ada"])
    assert database.lets_in("ada", now["team-ada"])
    assert database.lets_in("grace", kept["team-grace"])
    assert project.destroy() == {"delete": 6}
    assert [database.roles(), kept_in_vault(project)] == [{}, {}]


def test_both_programs_have_the_same_roles() -> None:
    for file in ("python/{}/role.py", "typescript/{}/role.ts"):
        first, second = (
            (EXAMPLES / file.format(program)).read_text() for program in ("database-role", "database-team")
        )
        assert first == second
