"""Which key a stack has: a passphrase of its own, the key of a fleet; and where it is shown."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from automation_kit import echo, placed
from cli import Project
from key_programs import PROGRAM, VAULT
from key_servers import key_servers
from night import rounds

from maloko import automation as auto

TALKATIVE = """
import os
import pulumi

def tell(of):
    pulumi.info(f"told {os.environ[of]}")

tell("PULUMI_CONFIG_PASSPHRASE")
network = pulumi.StackReference("net-work")
network.get_output("told").apply(lambda _: tell("MALOKO_PASSPHRASE_TRIAL_NET_WORK"))
"""
"""Says its passphrases."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write("__main__.py", PROGRAM)
    return made


def deploy(project: Project, stack: str, **variables: str) -> None:
    """Makes and deploys a stack with a secret output."""
    project.run("stack", "init", stack, **variables)
    project.run("config", "set", "--secret", "word", f"open {stack}", "--stack", stack, **variables)
    project.run("up", "--yes", "--skip-preview", "--stack", stack, **variables)


def told(project: Project, stack: str, **variables: str) -> str:
    shown = project.run("stack", "output", "told", "--show-secrets", "--stack", stack, **variables)
    return shown.stdout.strip()


def salt(project: Project, stack: str) -> str:
    file = next((project.directory / ".maloko").rglob(f"stacks/*/{stack}.json"))
    return json.loads(file.read_text())["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"]


# --- A passphrase of one stack alone


def test_stacks_of_two_teams_have_two_passphrases_and_one_run_opens_both(project: Project) -> None:
    network = {"MALOKO_PASSPHRASE_FILE_TRIAL_NET_WORK": str(project.write("network-passphrase", "of the network\n"))}
    deploy(project, "net-work", **network)
    refused = project.failing(
        "stack", "output", "told", "--show-secrets", "--stack", "net-work", MALOKO_PASSPHRASE_TRIAL_NET_WORK="x"
    )
    assert "the one in MALOKO_PASSPHRASE_TRIAL_NET_WORK is not the one" in refused
    assert "Set MALOKO_PASSPHRASE_TRIAL_NET_WORK to the right one" in refused
    own = {"PULUMI_CONFIG_PASSPHRASE": "of dev"}
    project.run("stack", "init", "dev", **own)
    project.run("config", "set", "other", "net-work", "--stack", "dev", **own)
    without = project.failing("up", "--yes", "--skip-preview", "--stack", "dev", **own)
    assert "the output 'told' of the stack 'net-work' is a secret that cannot be decrypted" in without
    assert "Set MALOKO_PASSPHRASE_FILE_TRIAL_NET_WORK to a file that holds that stack's passphrase" in without
    wrong = project.failing(
        "up", "--yes", "--skip-preview", "--stack", "dev", **own, MALOKO_PASSPHRASE_TRIAL_NET_WORK="x"
    )
    assert "Set MALOKO_PASSPHRASE_TRIAL_NET_WORK to the right one" in wrong
    project.run("up", "--yes", "--skip-preview", "--stack", "dev", **own, **network)
    assert told(project, "dev", **own) == "open net-work"


def test_resources_move_between_stacks_of_two_passphrases(project: Project) -> None:
    both = {"MALOKO_PASSPHRASE_TRIAL_DEV": "of dev", "MALOKO_PASSPHRASE_TRIAL_PROD": "of prod"}
    deploy(project, "dev", **both)
    project.run("stack", "init", "prod", **both)
    move = ("state", "move", "--source", "dev", "--dest", "prod", "--yes", "made")
    refused = project.failing(*move, MALOKO_PASSPHRASE_TRIAL_DEV="of dev", PULUMI_CONFIG_PASSPHRASE="another")
    assert "stack 'prod': incorrect passphrase" in refused
    project.run(*move, **both)
    shown = project.run("stack", "export", "--show-secrets", "--stack", "prod", **both).stdout
    assert "open dev" in shown
    (project.directory / "elsewhere").mkdir()
    project.run("stack", "migrate", "--stack", "prod", "--to", f"file://{project.directory}/elsewhere", **both)


def test_a_file_that_is_not_there_is_named_with_its_variable(project: Project) -> None:
    missing = str(project.directory / "missing")
    refused = project.failing("stack", "init", "dev", MALOKO_PASSPHRASE_FILE_TRIAL_DEV=missing)
    assert f"there is no file {missing}, which MALOKO_PASSPHRASE_FILE_TRIAL_DEV names" in refused


def test_a_changed_passphrase_says_which_variable_holds_the_old_one(project: Project) -> None:
    own = {"MALOKO_PASSPHRASE_TRIAL_DEV": "first"}
    deploy(project, "dev", **own)
    said = project.run_through('echo second | "$@"', "stack", "change-secrets-provider", "key-file", "--stack", "dev")
    assert said.returncode != 0, "nobody knows the old passphrase"
    project.environment |= own
    said = project.run_through('echo second | "$@"', "stack", "change-secrets-provider", "passphrase", "--stack", "dev")
    assert "set MALOKO_PASSPHRASE_TRIAL_DEV to the new one" in said.stderr
    assert told(project, "dev", MALOKO_PASSPHRASE_TRIAL_DEV="second") == "open dev"


# --- One key for a fleet


def test_the_stacks_of_a_fleet_share_one_key(project: Project, tmp_path: Path) -> None:
    for stack in ("one", "two"):
        project.run("stack", "init", stack, "--secrets-provider", "fleet")
        project.run("config", "set", "--secret", "word", f"open {stack}", "--stack", stack)
        project.run("up", "--yes", "--skip-preview", "--stack", stack)
        assert told(project, stack) == f"open {stack}"
    assert salt(project, "one") == salt(project, "two") == salt(project, "fleet-key")
    # In a fresh clone the settings are there first.
    project.run("stack", "rm", "two", "--yes", "--force", "--preserve-config")
    project.run("stack", "init", "two", "--secrets-provider", "fleet")
    assert project.run("config", "get", "word", "--stack", "two").stdout.strip() == "open two"
    # A stack that has a key already goes over, and back.
    deploy(project, "dev")
    assert salt(project, "dev") != salt(project, "one")
    project.run("stack", "change-secrets-provider", "fleet", "--stack", "dev")
    assert salt(project, "dev") == salt(project, "one")
    assert told(project, "dev") == "open dev"
    assert project.run("config", "get", "word", "--stack", "dev").stdout.strip() == "open dev"
    project.run("stack", "change-secrets-provider", "key-file", "--stack", "dev")
    assert salt(project, "dev") != salt(project, "one")
    assert told(project, "dev") == "open dev"


def test_a_fleet_of_several_projects_names_the_stack_that_holds_the_key(tmp_path: Path) -> None:
    shared = {"PULUMI_BACKEND_URL": f"file://{tmp_path}/state", "PULUMI_CONFIG_PASSPHRASE": "of the fleet"}
    (tmp_path / "state").mkdir()
    projects = [Project(tmp_path / name, name) for name in ("platform", "shop")]
    platform, shop = projects
    for it in projects:
        it.environment |= shared
        it.write("__main__.py", PROGRAM)
    fleet = ("--secrets-provider", "fleet:organization/platform/key")
    missing = shop.failing("stack", "init", "dev", *fleet)
    assert "no stack named 'organization/platform/key' found" in missing
    platform.run("stack", "init", "key")
    refused = shop.failing("stack", "init", "dev", *fleet, PULUMI_CONFIG_PASSPHRASE="another")
    assert "the key of stack 'organization/platform/key': incorrect passphrase" in refused
    assert "dev" not in shop.run("stack", "ls").stdout
    shop.run("stack", "init", "dev", *fleet)
    state = {name: next((tmp_path / "state").rglob(f"{name}.json")).read_text() for name in ("key", "dev")}
    salts = {json.loads(text)["checkpoint"]["latest"]["secrets_providers"]["state"]["salt"] for text in state.values()}
    assert len(salts) == 1


def test_a_fleet_has_the_passphrase_of_its_holder_and_not_of_the_stack_that_joins(project: Project) -> None:
    fleet = ("--secrets-provider", "fleet")
    of_holder = {"MALOKO_PASSPHRASE_TRIAL_FLEET_KEY": "of the fleet"}
    of_all = {"PULUMI_CONFIG_PASSPHRASE": "of the fleet"}
    init = project.run("stack", "init", "one", *fleet, **of_holder)
    assert "set MALOKO_PASSPHRASE_FILE_TRIAL_ONE to a file that holds the passphrase of the fleet" in init.stderr
    project.run("config", "set", "--secret", "word", "open one", "--stack", "one", **of_all)
    # A stack with a passphrase of its own goes over, and no one is left with a key that only its old passphrase opens.
    own = {"MALOKO_PASSPHRASE_TRIAL_TWO": "of two"}
    deploy(project, "two", **own)
    change = ("stack", "change-secrets-provider", "fleet", "--stack", "two")
    assert "the key of stack 'fleet-key': incorrect passphrase" in project.failing(
        *change, **own, **{"MALOKO_PASSPHRASE_TRIAL_FLEET_KEY": "wrong"}
    )
    assert told(project, "two", **own) == "open two"
    told_what_to_do = project.run(*change, **own, **of_all).stderr
    assert "MALOKO_PASSPHRASE_TRIAL_TWO holds another passphrase than that of the fleet: unset it" in told_what_to_do
    assert told(project, "two", **of_all) == "open two"
    assert salt(project, "one") == salt(project, "two")


def test_a_fleet_by_key_file_is_joined_under_a_passphrase_of_another_stack(project: Project) -> None:
    project.run("stack", "init", "fleet-key")
    own = {"PULUMI_CONFIG_PASSPHRASE": "of dev"}
    deploy(project, "dev", **own)
    joined = project.run("stack", "change-secrets-provider", "fleet", "--stack", "dev", **own)
    assert "PULUMI_CONFIG_PASSPHRASE holds another passphrase than that of the fleet: unset it" in joined.stderr
    assert told(project, "dev") == "open dev"
    assert "secretsprovider" not in (project.directory / "Pulumi.dev.yaml").read_text()


def test_a_fleet_under_a_passphrase_is_not_looked_for_in_the_key_file(project: Project) -> None:
    of_all = {"PULUMI_CONFIG_PASSPHRASE": "of the fleet"}
    project.run("stack", "init", "by-key-file")
    project.run("stack", "init", "dev", "--secrets-provider", "fleet", **of_all)
    assert (project.directory / "Pulumi.dev.yaml").read_text().endswith("secretsprovider: passphrase\n")
    assert "the passphrase of the stack's secrets is not known" in project.failing(
        "config", "set", "--secret", "word", "x", "--stack", "dev"
    )


def test_no_holder_is_made_by_a_command_that_refuses(project: Project) -> None:
    deploy(project, "dev")
    settings = project.directory / "Pulumi.dev.yaml"
    kept = settings.read_text()
    settings.write_text(re.sub(r"secure: .*", "secure: v1:AAAAAAAAAAAAAAAA:AAAA", kept))
    project.failing("stack", "change-secrets-provider", "fleet", "--stack", "dev")
    settings.write_text(kept)
    (project.directory / "Pulumi.new.yaml").write_text(kept)
    refused = project.failing("stack", "init", "new", "--secrets-provider", "fleet")
    assert "the stack without --secrets-provider" in refused
    assert "fleet-key" not in project.run("stack", "ls").stdout
    assert told(project, "dev") == "open dev"


def test_the_holder_has_the_key_that_its_settings_name(project: Project) -> None:
    with key_servers() as servers:
        project.environment |= servers.environment
        (project.directory / "Pulumi.fleet-key.yaml").write_text(f"secretsprovider: {VAULT}\n")
        project.run("stack", "init", "dev", "--secrets-provider", "fleet")
        of_holder = (project.directory / "Pulumi.fleet-key.yaml").read_text()
        assert of_holder == (project.directory / "Pulumi.dev.yaml").read_text()
        assert f"secretsprovider: {VAULT}\nencryptedkey: " in of_holder


def test_the_holder_of_a_key_cannot_take_it_from_itself(project: Project) -> None:
    assert "holds the key of the fleet itself" in project.failing(
        "stack", "init", "fleet-key", "--secrets-provider", "fleet"
    )
    assert "fleet-key" not in project.run("stack", "ls").stdout


def test_a_fleet_under_a_key_service_has_one_wrapped_key(project: Project) -> None:
    with key_servers() as servers:
        project.environment |= servers.environment
        project.run("stack", "init", "fleet-key", "--secrets-provider", VAULT)
        servers.requests.clear()
        project.run("stack", "init", "dev", "--secrets-provider", "fleet")
        assert servers.requests == ["PUT /v1/transit/decrypt/one"]
        project.run("config", "set", "--secret", "word", "open dev", "--stack", "dev")
        project.run("up", "--yes", "--skip-preview", "--stack", "dev")
        assert told(project, "dev") == "open dev"
        settings = (project.directory / "Pulumi.dev.yaml").read_text().splitlines()
        assert settings[:2] == (project.directory / "Pulumi.fleet-key.yaml").read_text().splitlines()[:2]


# --- Where the key is shown


def test_stack_about_history_page_and_check_show_the_key(project: Project) -> None:
    with key_servers() as servers:
        project.environment |= servers.environment
        project.run("stack", "init", "dev", "--secrets-provider", f"{VAULT}?engine=transit")
        project.run("config", "set", "--secret", "word", "open dev")
        project.run("up", "--yes", "--skip-preview", "--page", "run.html")
        assert f"Secrets provider: {VAULT}\n" in project.run("stack").stdout
        assert json.loads(project.run("about", "--json").stdout)["secrets provider"] == VAULT
        assert f"maloko.secretsProvider: {VAULT}\n" in project.run("stack", "history").stdout
        project.run("stack", "page", "--output", "stack.html")
        for page in ("run.html", "stack.html"):
            assert f'"secretsProvider":"{VAULT}"' in (project.directory / page).read_text()
        assert f"checked the key of stack 'dev' ({VAULT})\n" in project.run("check").stdout
        refused = project.failing("check", VAULT_TOKEN="expired")
        assert f"problem: stack 'dev': {VAULT} does not decrypt the stack's key: permission denied" in refused


def test_check_says_whether_a_passphrase_opens_the_stack(project: Project) -> None:
    own = {"MALOKO_PASSPHRASE_TRIAL_DEV": "of dev"}
    deploy(project, "dev", **own)
    assert "checked the key of stack 'dev' (passphrase)\n" in project.run("check", **own).stdout
    wrong = project.failing("check", MALOKO_PASSPHRASE_TRIAL_DEV="x")
    assert "problem: stack 'dev': incorrect passphrase: the one in MALOKO_PASSPHRASE_TRIAL_DEV" in wrong
    unknown = project.run("check").stdout
    assert "note: the passphrase of stack 'dev' is not known here, so its key was not looked at" in unknown


def test_check_opens_the_key_of_the_settings_and_that_of_the_state(project: Project) -> None:
    with key_servers() as servers:
        project.environment |= servers.environment
        project.run("stack", "init", "dev", "--secrets-provider", VAULT)
        deploy(project, "other")
        settings = (project.directory / "Pulumi.other.yaml").read_text()
        (project.directory / "Pulumi.dev.yaml").write_text(settings)
        checked = project.run("check").stdout
        assert f"checked the key of stack 'dev' ({VAULT})\n" in checked
        assert "checked the key of stack 'dev' (passphrase)\n" in checked
        refused = project.failing("check", VAULT_TOKEN="expired")
        assert f"problem: stack 'dev': {VAULT} does not decrypt the stack's key: permission denied" in refused


def test_a_lost_key_file_is_of_no_stack_with_a_passphrase_of_its_own(project: Project) -> None:
    own = {"MALOKO_PASSPHRASE_TRIAL_DEV": "of dev"}
    deploy(project, "dev", **own)
    project.run("stack", "init", "next", **own)
    project.run("stack", "rm", "next", "--yes", **own)
    (project.directory / ".maloko" / "passphrase").unlink()
    assert "0 problems found" in project.run("check", **own).stdout
    project.run("stack", "init", "third", **own)
    (project.directory / ".maloko" / "passphrase").unlink()
    assert "A new key would not open them" in project.failing("stack", "init", "fourth", **own)


def test_what_opens_another_stack_is_hidden(project: Project) -> None:
    both = {
        "MALOKO_PASSPHRASE_TRIAL_NET_WORK": "passphrase of the network",
        "PULUMI_CONFIG_PASSPHRASE": "passphrase of all others",
    }
    deploy(project, "net-work", **both)
    project.run("stack", "init", "dev", **both)
    project.run("config", "set", "other", "net-work", "--stack", "dev", **both)
    project.write("__main__.py", TALKATIVE)
    shown = project.run("up", "--yes", "--skip-preview", "--stack", "dev", **both)
    assert (shown.stdout + shown.stderr).count("told [secret]") == 2


def test_a_process_that_goes_round_a_fleet_asks_its_service_once(tmp_path: Path) -> None:
    with key_servers() as servers:

        def stack(name: str, provider: str, **variables: str) -> auto.Stack:
            options = placed(tmp_path, env_vars={**servers.environment, **variables}, secrets_provider=provider)
            return auto.create_or_select_stack(name, "project", echo, opts=options)

        stack("fleet-key", VAULT)
        servers.requests.clear()
        for number in range(5):
            result = stack(f"tenant-{number}", "fleet").up()
            assert result.outputs["hidden"].value == "hush"
        assert len(servers.requests) <= 1, "an unwrapped key counts for some minutes"
        servers.requests.clear()
        # Whoever comes with other credentials is not given what these unwrapped.
        with pytest.raises(auto.CommandError, match="permission denied"):
            stack("tenant-0", "fleet", VAULT_TOKEN="expired").up()
        assert servers.requests == ["PUT /v1/transit/decrypt/one"]
        written = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
        assert not [content for content in written for key in servers.keys if key.encode() in content]


def test_a_process_unwraps_the_key_of_each_stack_once(tmp_path: Path) -> None:
    names = [f"tenant-{number}" for number in range(rounds(20, 200))]
    with key_servers() as servers:

        def deploy_tenant(name: str) -> str:
            options = placed(tmp_path / name, env_vars=servers.environment, secrets_provider=VAULT)
            return auto.create_or_select_stack(name, "project", echo, opts=options).up().outputs["hidden"].value

        for _ in range(2):
            with ThreadPoolExecutor(8) as pool:
                assert set(pool.map(deploy_tenant, names)) == {"hush"}
        # Whoever makes a key sees at once that it can be unwrapped.
        assert Counter(servers.requests) == {
            "PUT /v1/transit/encrypt/one": len(names),
            "PUT /v1/transit/decrypt/one": len(names),
        }
        written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert len(set(servers.keys)) == len(names), "each has a key of its own"
        assert not [key for key in servers.keys if key.encode() in written or base64.b64decode(key) in written]
