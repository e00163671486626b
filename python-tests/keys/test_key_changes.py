"""A stack's key is changed: in every direction, killed at every change of the disk, and refused."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from cli import Project, begin
from key_programs import AWS, AZURE, GOOGLE, PROGRAM, VAULT, files
from key_servers import KeyManagementService, KeyServers, key_servers
from night import LONG, by_day

PASSPHRASE = "passphrase"
KILLED = -9


@pytest.fixture(scope="module")
def servers() -> Iterator[KeyServers]:
    with key_servers() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, servers: KeyServers, aws: KeyManagementService) -> Project:
    return prepared(tmp_path / "project", servers, aws)


def prepared(directory: Path, servers: KeyServers, aws: KeyManagementService) -> Project:
    made = Project(directory)
    made.environment |= servers.environment | aws.may_all
    made.write("__main__.py", PROGRAM)
    return made


def deploy(project: Project, *provider: str) -> None:
    project.run("stack", "init", "dev", *provider)
    project.run("config", "set", "--secret", "word", "open sesame")
    project.run("up", "--yes", "--skip-preview")


def change(project: Project, provider: str, **variables: str) -> int:
    """Changes the key; the exit code. A new passphrase is `new`."""
    line = ["stack", "change-secrets-provider", provider]
    if provider != PASSPHRASE:
        return project.run(*line, code=None, **variables).returncode
    before = project.environment
    project.environment = before | variables
    done = project.run_through('echo new | "$@"', *line)
    project.environment = before
    return done.returncode


def assert_opens(project: Project, **variables: str) -> None:
    assert project.run("config", "get", "word", **variables).stdout.strip() == "open sesame"
    shown = project.run("stack", "output", "told", "--show-secrets", **variables)
    assert shown.stdout.strip() == "open sesame"


def every_direction(nodes: list[str]) -> list[str]:
    """A way that goes from each node to each other one, once."""
    left = {node: [other for other in nodes if other != node] for node in nodes}
    way, path = [], [nodes[0]]
    while path:
        if onward := left[path[-1]]:
            path.append(onward.pop())
        else:
            way.append(path.pop())
    return way[::-1]


@pytest.mark.nightly
def test_a_key_goes_in_every_direction(project: Project) -> None:
    way = every_direction([PASSPHRASE, AWS, AZURE, GOOGLE, VAULT])
    assert len(set(pairwise(way))) == 20
    deploy(project)
    project.environment["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(project.write("new-passphrase", "new\n"))
    # From the key file, which a passphrase would go before.
    assert change(project, PASSPHRASE, PULUMI_CONFIG_PASSPHRASE_FILE="") == 0
    for place, provider in enumerate(way[1:]):
        assert change(project, provider) == 0, (place, provider)
        if LONG or place % 4 == 3:
            assert_opens(project)
    assert "2 unchanged" in project.run("up", "--yes", "--skip-preview").stdout


@pytest.mark.parametrize("way", by_day([("", VAULT), (VAULT, AZURE), (AWS, PASSPHRASE)], lambda _, place: place == 0))
def test_a_change_that_is_killed_leaves_a_stack_that_opens(
    tmp_path: Path, servers: KeyServers, aws: KeyManagementService, way: tuple[str, str]
) -> None:
    before, after = way
    template = prepared(tmp_path / "template", servers, aws)
    deploy(template, *(["--secrets-provider", before] if before else []))
    new = {"PULUMI_CONFIG_PASSPHRASE": "new"} if after == PASSPHRASE else {}
    kills = 0
    for at in range(0, 200, 1 if LONG else 4):
        project = prepared(tmp_path / str(at), servers, aws)
        shutil.copytree(template.directory, project.directory, dirs_exist_ok=True)
        code = change(project, after, FAILPOINTS=f"kill::disk-change={at}*off->1*return")
        if code != 0:
            assert code in (KILLED, 128 + 9)
            kills += 1
        assert_opens(project, **new)
        assert "2 unchanged" in project.run("up", "--yes", "--skip-preview", **new).stdout
        assert not list(project.directory.glob(".Pulumi.dev.yaml*")), "nothing lies beside the settings any more"
        if code == 0:
            break
    assert kills > (8 if LONG else 2), f"{kills} changes of the disk"


def test_a_command_beside_a_change_leaves_it_alone(project: Project) -> None:
    deploy(project, "--secrets-provider", VAULT)
    staged = project.directory / ".Pulumi.dev.yaml.rekeyed"
    # The change waits before one of its last writes, and there is what it will put in place.
    project.environment["FAILPOINTS"] = "kill::disk-change=12*off->1*sleep(2000)"
    changing = begin(project, "stack", "change-secrets-provider", GOOGLE)
    del project.environment["FAILPOINTS"]
    deadline = time.monotonic() + 30
    while not staged.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    project.run("config", "get", "word", code=None)
    project.run("config", "set", "plain", "value")
    told, _ = changing.communicate(timeout=60)
    assert changing.returncode == 0, told
    assert not staged.exists()
    assert_opens(project)
    written = (project.directory / "Pulumi.dev.yaml").read_text()
    assert "gcpkms://" in written
    assert "trial:plain: value" in written, "whoever sets configuration waits for the change"


UNREACHABLE = {
    "VAULT_ADDR": "http://127.0.0.1:1",
    "AWS_ENDPOINT_URL_KMS": "http://127.0.0.1:1",
    "GOOGLE_KMS_CUSTOM_ENDPOINT": "http://127.0.0.1:1/v1",
    "MALOKO_AZURE_KEY_VAULT_ADDRESS": "http://127.0.0.1:1",
}
WRONG = {
    "VAULT_TOKEN": "expired",
    "AWS_SECRET_ACCESS_KEY": "wrong",
    "GOOGLE_OAUTH_ACCESS_TOKEN": "expired",
    "AZURE_CLIENT_SECRET": "wrong",
}
COMMANDS = [
    ["up", "--yes", "--skip-preview"],
    ["refresh", "--yes"],
    ["destroy", "--yes"],
    ["config", "set", "--secret", "other", "x"],
    ["stack", "change-secrets-provider", "key-file"],
    ["stack", "rename", "live"],
    ["state", "delete", "made", "--yes"],
]


REFUSALS = [(url, refusal) for refusal in ("unreachable", "wrong credentials") for url in (VAULT, AWS, GOOGLE, AZURE)]


# One that cannot be reached is asked for 15 seconds.
@pytest.mark.parametrize(
    "case", by_day(REFUSALS, lambda case, _: case in [(VAULT, "wrong credentials"), (AWS, "wrong credentials")])
)
def test_a_key_that_cannot_be_had_changes_nothing(project: Project, case: tuple[str, str]) -> None:
    url, kind = case
    refusal = UNREACHABLE if kind == "unreachable" else WRONG
    deploy(project, "--secrets-provider", url)
    before = files(project)
    for command in COMMANDS:
        error = project.failing(*command, **refusal)
        assert f"{url} does not decrypt the stack's key" in error, command
        assert "Nothing was changed" in error, command
        assert files(project) == before, command
    assert_opens(project)
