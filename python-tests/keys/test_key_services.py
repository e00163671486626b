"""Stacks whose key a key service wraps: AWS KMS, Google Cloud KMS, Azure Key Vault, Vault."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Authority
from cli import Project
from cryptography import x509
from key_programs import AZURE, GOOGLE, PROGRAM, VAULT, files
from key_servers import SECRET, TOKEN, KeyManagementService, KeyServers, key_servers
from night import by_day

MANY = """
import os
import pulumi

config = pulumi.Config()
words = [config.require_secret(f"word-{number}") for number in range(50)]
for name in os.environ["REFERENCES"].split():
    told = pulumi.StackReference(name).get_output("told")
    words += [told] if name == "other" else []
pulumi.export("told", pulumi.Output.all(*words).apply("".join))
"""
"""A secret output of fifty secrets, and of that of `other` where it is among the stacks of REFERENCES."""


@pytest.fixture
def servers() -> Iterator[KeyServers]:
    with key_servers() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, servers: KeyServers) -> Project:
    made = Project(tmp_path)
    made.environment.update(servers.environment)
    made.write("__main__.py", PROGRAM)
    return made


def settings(project: Project) -> str:
    return (project.directory / "Pulumi.dev.yaml").read_text()


@pytest.mark.parametrize("url", [AZURE, GOOGLE, VAULT])
def test_a_stack_lives_under_a_key_service(project: Project, servers: KeyServers, url: str) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", url)
    assert settings(project).startswith(f"secretsprovider: {url}\nencryptedkey: ")
    # Wrapped, and unwrapped at once, to see that the key may be used for both.
    assert len(servers.requests) == 2
    project.run("config", "set", "--secret", "word", "open sesame")
    servers.requests.clear()
    project.run("up", "--yes", "--skip-preview")
    assert len(servers.requests) == 1, "one request unwraps the key for the whole run"
    state = json.loads(project.state())
    assert state["checkpoint"]["latest"]["secrets_providers"]["state"]["url"] == url
    assert "open sesame" not in project.state()
    assert project.run("stack", "output", "told", "--show-secrets").stdout.strip() == "open sesame"
    assert "2 unchanged" in project.run("refresh", "--yes").stdout
    project.run("destroy", "--yes")
    project.run("stack", "rm", "--yes")


def test_what_needs_no_secret_asks_no_service(project: Project, servers: KeyServers) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    project.run("up", "--yes", "--skip-preview")
    servers.requests.clear()
    # Nobody would answer.
    gone = {"VAULT_ADDR": "http://127.0.0.1:1"}
    assert "dev" in project.run("stack", "ls", **gone).stdout
    project.run("stack", "export", **gone)
    assert "[secret]" in project.run("config", **gone).stdout
    project.run("config", "set", "plain", "value", **gone)
    assert project.run("config", "get", "plain", **gone).stdout.strip() == "value"
    assert "[secret]" in project.run("stack", "output", **gone).stdout
    assert servers.requests == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (AZURE.replace("one", "no"), "Microsoft.KeyVault/vaults/keys/encrypt/action"),
        pytest.param(AZURE.replace("one", "other"), "there is no such key", marks=pytest.mark.nightly),
        pytest.param(GOOGLE.replace("one", "no"), "cloudkms.cryptoKeyVersions.useToEncrypt", marks=pytest.mark.nightly),
        (GOOGLE.replace("one", "other"), "there is no such key"),
        pytest.param("hashivault://no", "`update` on `transit/encrypt/no`", marks=pytest.mark.nightly),
        ("hashivault://one?engine=other", "there is no transit engine at 'other'"),
        ("hashivault://../../sys/health", "leads out of the transit engine"),
        ("awskms://alias/x?nonsense=1", "'nonsense'"),
    ],
)
def test_a_key_that_is_refused_makes_no_stack(project: Project, url: str, said: str) -> None:
    error = project.failing("stack", "init", "dev", "--secrets-provider", url)
    assert said in error
    assert "?" not in error.replace("?engine", ""), "no query is shown"
    assert not (project.directory / "Pulumi.dev.yaml").exists()
    assert "dev" not in project.run("stack", "ls").stdout


# By day the changes of keys have the commands that change something.
@pytest.mark.parametrize(
    "command",
    by_day(
        [["up", "--yes"], ["config", "set", "--secret", "word", "x"], ["config", "get", "word"]],
        lambda command, _: command[1] == "get",
    ),
)
@pytest.mark.parametrize("variable", [{"VAULT_TOKEN": "expired"}, {"VAULT_TOKEN": ""}])
def test_a_service_that_refuses_leaves_everything_as_it_was(
    project: Project, command: list[str], variable: dict[str, str]
) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    before = files(project)
    error = project.failing(*command, **variable)
    assert "hashivault://one does not decrypt the stack's key: permission denied" in error
    assert files(project) == before


def test_every_way_of_a_change_keeps_the_values(project: Project, servers: KeyServers) -> None:
    project.run("stack", "init", "dev")
    project.run("config", "set", "--secret", "word", "open sesame")
    project.run("up", "--yes", "--skip-preview")
    key = ""
    for url in [VAULT, VAULT, GOOGLE, AZURE, VAULT, AZURE, GOOGLE, VAULT, "key-file", AZURE, "key-file", GOOGLE]:
        project.run("stack", "change-secrets-provider", url)
        assert project.run("config", "get", "word").stdout.strip() == "open sesame"
        assert project.run("stack", "output", "told", "--show-secrets").stdout.strip() == "open sesame"
        record = json.loads(project.state())["checkpoint"]["latest"]["secrets_providers"]
        if url == "key-file":
            assert "encryptedkey" not in settings(project)
            assert "secretsprovider" not in settings(project)
            continue
        assert record["state"]["url"] == url
        assert f"encryptedkey: {record['state']['encryptedkey']}\n" in settings(project)
        assert record["state"]["encryptedkey"] != key, "also under the same URL it is another key"
        assert "encryptionsalt" not in settings(project)
        key = record["state"]["encryptedkey"]
    assert "2 unchanged" in project.run("up", "--yes", "--skip-preview").stdout


def test_a_refused_change_changes_nothing(project: Project) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    before = files(project)
    refused = GOOGLE.replace("one", "no")
    assert "useToEncrypt" in project.failing("stack", "change-secrets-provider", refused)
    assert "permission denied" in project.failing("stack", "change-secrets-provider", GOOGLE, VAULT_TOKEN="expired")
    assert files(project) == before


def test_a_lost_key_is_taken_from_the_state(project: Project) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    whole = settings(project)
    kept = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith("encryptedkey"))
    project.write("Pulumi.dev.yaml", kept)
    assert project.run("config", "get", "word").stdout.strip() == "open sesame"
    assert settings(project) == kept, "a command that reads writes nothing"
    project.run("config", "set", "--secret", "other", "x")
    key = next(line for line in whole.splitlines() if line.startswith("encryptedkey"))
    assert key in settings(project)
    # Without any settings, the state's key counts, and the stack does not become one of a passphrase.
    (project.directory / "Pulumi.dev.yaml").unlink()
    project.run("config", "set", "--secret", "word", "again")
    assert key in settings(project)
    assert "encryptionsalt" not in settings(project)


def test_the_override_reaches_the_same_key_and_is_never_saved(project: Project) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    before = files(project)
    same = {"PULUMI_CLOUD_SECRET_OVERRIDE": "hashivault://one?engine=transit"}
    assert project.run("config", "get", "word", **same).stdout.strip() == "open sesame"
    error = project.failing("config", "get", "word", PULUMI_CLOUD_SECRET_OVERRIDE="hashivault://other")
    assert "hashivault://one does not decrypt the stack's key" in error
    assert "of another kind" in project.failing("config", "get", "word", PULUMI_CLOUD_SECRET_OVERRIDE=GOOGLE)
    assert files(project) == before


def test_settings_that_name_a_key_are_honoured(project: Project) -> None:
    project.write("Pulumi.dev.yaml", f"secretsprovider: {VAULT}\n")
    project.run("stack", "init", "dev")
    assert settings(project).startswith(f"secretsprovider: {VAULT}\nencryptedkey: ")


def test_a_key_of_a_service_that_is_not_known_here_says_the_way_out(project: Project) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    project.write("Pulumi.dev.yaml", settings(project).replace(VAULT, "ocikms://one"))
    before = files(project)
    for command in (["up", "--yes"], ["config", "get", "word"], ["stack", "change-secrets-provider", VAULT]):
        error = project.failing(*command)
        assert "'ocikms' is no secrets provider" in error
        assert "`pulumi stack change-secrets-provider`" in error
    assert files(project) == before


@pytest.mark.parametrize("kind", ["service", "b64"])
def test_a_state_whose_kind_of_key_is_not_known_here_is_left_alone(project: Project, kind: str) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    project.run("up", "--yes", "--skip-preview")
    state = next((project.directory / ".maloko").rglob("stacks/*/dev.json"))
    document = json.loads(state.read_text())
    latest = document["checkpoint"]["latest"]
    latest["secrets_providers"] = {"type": kind, "state": {}}
    # As another tool leaves it, without a seal.
    latest["manifest"] |= {"version": "v3.274.1", "magic": hashlib.sha256(b"v3.274.1").hexdigest()}
    state.write_text(json.dumps(document))
    shutil.rmtree(project.directory / ".maloko" / ".pulumi" / "maloko")
    # What is in the service stays there: the settings name no key, as those of such a stack.
    project.write("Pulumi.dev.yaml", "config: {}\n")
    before = files(project)
    for command in (
        ["up", "--yes"],
        ["refresh", "--yes"],
        ["config", "set", "--secret", "word", "x"],
        ["stack", "output", "told", "--show-secrets"],
        ["stack", "change-secrets-provider", VAULT],
    ):
        error = project.failing(*command)
        assert f"kept with the provider '{kind}', which maloko does not support" in error, command
        assert "`pulumi stack change-secrets-provider passphrase`" in error
    assert files(project) == before


def test_the_token_of_vault_s_own_log_in_comes_last(project: Project) -> None:
    project.write("home/.vault-token", f"{TOKEN}\n")
    project.environment["VAULT_TOKEN"] = ""
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    assert "permission denied" in project.failing("config", "set", "--secret", "word", "x", VAULT_TOKEN="expired")


def test_a_busy_service_is_asked_again(project: Project, servers: KeyServers) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", GOOGLE)
    project.run("config", "set", "--secret", "word", "open sesame")
    servers.requests.clear()
    servers.busy = 2
    assert project.run("config", "get", "word").stdout.strip() == "open sesame"
    assert len(servers.requests) == 3


def test_a_command_asks_once_also_where_it_previews(project: Project, servers: KeyServers) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    for verb in ("up", "refresh", "destroy"):
        servers.requests.clear()
        project.run(verb, "--yes")
        assert servers.requests == ["PUT /v1/transit/decrypt/one"], verb


def test_a_run_asks_once_for_each_key_however_many_secrets_and_references_it_has(
    project: Project, servers: KeyServers
) -> None:
    project.run("stack", "init", "other", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open other")
    project.run("up", "--yes", "--skip-preview")
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    secrets = (part for number in range(50) for part in ("--secret", f"word-{number}=s{number}"))
    project.run("config", "set-all", *secrets)
    project.write("__main__.py", MANY)
    # The key of another stack is asked for in each of the two processes that read it.
    for references, requests, words in (["", 1, []], ["dev", 1, []], ["dev other", 2, ["--skip-preview"]]):
        servers.requests.clear()
        up = project.run("up", "--yes", *words, REFERENCES=references)
        assert servers.requests == ["PUT /v1/transit/decrypt/one"] * requests, up.stdout
    shown = project.run("stack", "output", "told", "--show-secrets").stdout.strip()
    assert shown == "".join(f"s{number}" for number in range(50)) + "open other"


def test_a_key_that_opens_nothing_of_the_settings_is_told(project: Project) -> None:
    for stack in ("other", "dev"):
        project.run("stack", "init", stack, "--secrets-provider", VAULT)
        project.run("config", "set", "--secret", "word", "open sesame")
    kept, other = settings(project), (project.directory / "Pulumi.other.yaml").read_text()
    (_, line), (_, of_other) = (text.splitlines()[:2] for text in (kept, other))
    project.write("Pulumi.dev.yaml", kept.replace(line, of_other))
    mixed = settings(project)
    for command in (["config", "set", "--secret", "new", "x"], ["check"]):
        error = project.failing(*command)
        assert "`trial:word` is not encrypted with the key of the stack (hashivault://one)" in error
    assert settings(project) == mixed, "nothing is encrypted beside it"
    project.write("Pulumi.dev.yaml", kept.replace(line, 'encryptedkey: "%%%"'))
    assert "problem: " in project.failing("check")


def test_a_rotation_in_the_service_changes_nothing(project: Project, servers: KeyServers) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    servers.rotate_vault("one")
    assert project.run("config", "get", "word").stdout.strip() == "open sesame"
    servers.rotate_vault("one", least=2)
    error = project.failing("config", "get", "word")
    assert "too old" in error
    assert "min_decryption_version" in error
    project.run("stack", "change-secrets-provider", AZURE, code=1)
    servers.vault_least = 1
    project.run("stack", "change-secrets-provider", AZURE)
    # Azure's wrapped keys name no version, and the newest one does not open what a former one wrapped.
    servers.rotate_azure()
    done = project.run("config", "get", "word")
    assert done.stdout.strip() == "open sesame"
    assert "is not the newest" in done.stderr


def test_vault_is_reached_by_tls_with_certificates_of_the_teams_own(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server, client = authority.issue("server"), authority.issue("client")
    with key_servers() as servers:
        servers.demand_tls(server, authority.certificate)
        project = Project(tmp_path / "project")
        project.environment |= servers.environment
        init = ("stack", "init", "dev", "--secrets-provider", VAULT)
        trusted = {"VAULT_CACERT": str(authority.certificate)}
        assert "set VAULT_CLIENT_KEY, too" in project.failing(*init, **trusted, VAULT_CLIENT_CERT=str(client))
        assert "VAULT_CACERT: /nowhere cannot be read" in project.failing(*init, VAULT_CACERT="/nowhere")
        assert "name the authority" in project.failing(*init, VAULT_SKIP_VERIFY="true")
        shown = {"VAULT_CLIENT_CERT": str(client), "VAULT_CLIENT_KEY": str(client)}
        project.run(*init, **trusted, **shown)
        project.run("stack", "rm", "dev", "--yes", **trusted, **shown)
        project.run(*init, **shown, VAULT_CACERT_BYTES=authority.certificate.read_text())


def test_a_machine_of_google_vouches_for_itself(project: Project, servers: KeyServers) -> None:
    host = servers.address.removeprefix("http://")
    machine = {"GOOGLE_OAUTH_ACCESS_TOKEN": "", "GCE_METADATA_HOST": host}
    project.run("stack", "init", "dev", "--secrets-provider", GOOGLE, **machine)
    project.run("config", "set", "--secret", "word", "open sesame", **machine)
    assert project.run("config", "get", "word", **machine).stdout.strip() == "open sesame"


def test_an_application_of_entra_shows_a_certificate(project: Project, servers: KeyServers, tmp_path: Path) -> None:
    certificate = Authority(tmp_path).issue("application")
    init = ("stack", "init", "dev", "--secrets-provider", AZURE)
    by_certificate = {"AZURE_CLIENT_SECRET": "", "AZURE_CLIENT_CERTIFICATE_PATH": str(certificate)}
    assert "AADSTS700027" in project.failing(*init, **by_certificate)
    servers.application = x509.load_pem_x509_certificate(
        certificate.read_bytes()[certificate.read_bytes().index(b"-----BEGIN CERT") :]
    )
    project.run(*init, **by_certificate)
    init = ("stack", "init", "other", *init[3:])
    nowhere = project.failing(*init, AZURE_CLIENT_SECRET="", AZURE_CLIENT_CERTIFICATE_PATH="/nowhere")
    assert "/nowhere, which AZURE_CLIENT_CERTIFICATE_PATH names" in nowhere


AZ = """#!/bin/sh
echo "$@" >> {asked}
test -e {logged_out} && {{ echo "Please run 'az login'" >&2; exit 1; }}
echo '{{"accessToken": "{token}", "tokenType": "Bearer"}}'
"""
"""The command line of Azure, of somebody who has logged in."""


def test_who_has_logged_in_with_azure_s_command_line_needs_nothing_else(project: Project, tmp_path: Path) -> None:
    asked, logged_out = tmp_path / "asked", tmp_path / "logged-out"
    az = project.write("bin/az", AZ.format(asked=asked, logged_out=logged_out, token=TOKEN))
    az.chmod(0o755)
    nothing = {"AZURE_TENANT_ID": "", "AZURE_CLIENT_ID": "", "AZURE_CLIENT_SECRET": ""}
    # Nobody answers for the machine.
    nothing |= {"AZURE_POD_IDENTITY_AUTHORITY_HOST": "http://127.0.0.1:1"}
    project.environment["PATH"] = f"{az.parent}:{project.environment['PATH']}"
    project.run("stack", "init", "dev", "--secrets-provider", AZURE, **nothing)
    project.run("config", "set", "--secret", "word", "open sesame", **nothing)
    assert project.run("config", "get", "word", **nothing).stdout.strip() == "open sesame"
    words = {"account", "get-access-token", "https://vault.azure.net"}
    assert all(words <= set(line.split()) for line in asked.read_text().splitlines())
    calls = asked.read_text()
    project.run("config", "get", "word")
    assert asked.read_text() == calls, "what variables say goes first"
    logged_out.touch()
    error = project.failing("config", "get", "word", **nothing)
    assert "there are no credentials for it" in error
    assert "`az login`" in error


LEAKY = """
import os
print("the program knows", os.environ["VAULT_TOKEN"])
raise RuntimeError("and fails with " + os.environ["VAULT_TOKEN"])
"""


def test_neither_the_key_nor_a_credential_is_shown(project: Project, servers: KeyServers) -> None:
    project.run("stack", "init", "dev", "--secrets-provider", VAULT)
    project.run("config", "set", "--secret", "word", "open sesame")
    up = ("up", "--yes", "--skip-preview")
    told = [project.run(*up, "--page", "run.html").stdout, project.run("stack", "export", "--show-secrets").stdout]
    told += [project.run("stack", "history", "--json", "--show-secrets").stdout, project.run("about", "env").stdout]
    project.write("__main__.py", LEAKY)
    failed = [project.failing(*up), project.failing(*up, "--json"), project.failing(*up, "--show-tracebacks")]
    assert all("[secret]" in text for text in failed)
    [key] = servers.keys
    raw = base64.b64decode(key)
    hidden = [raw, key.encode(), base64.urlsafe_b64encode(raw), raw.hex().encode(), TOKEN.encode(), SECRET.encode()]
    written = [file.read_bytes() for file in project.directory.rglob("*") if file.is_file()]
    everything = [*(text.encode() for text in [*told, *failed]), *written]
    assert not [text for text in everything if any(secret in text for secret in hidden)]


def test_a_stack_lives_under_a_key_of_aws(tmp_path: Path, aws: KeyManagementService) -> None:
    project = Project(tmp_path)
    project.environment.update(aws.may_all)
    project.write("__main__.py", PROGRAM)
    project.run("stack", "init", "dev", "--secrets-provider", "awskms:///alias/one?context_team=a+b&awssdk=v2")
    project.run("config", "set", "--secret", "word", "open sesame")
    project.run("up", "--yes", "--skip-preview")
    # What was wrapped names its key.
    aws.move_alias()
    assert project.run("stack", "output", "told", "--show-secrets").stdout.strip() == "open sesame"
    kept = settings(project)
    project.write("Pulumi.dev.yaml", kept.replace("context_team=a+b", "context_team=other"))
    error = project.failing("config", "get", "word")
    assert "encryption context" in error
    assert "a+b" not in error
    assert "other" not in error
    project.write("Pulumi.dev.yaml", kept)
    project.run("stack", "change-secrets-provider", f"awskms:///{aws.key}")
    assert project.run("config", "get", "word").stdout.strip() == "open sesame"
    for command in (
        ["refresh", "--yes", "--skip-preview"],
        ["destroy", "--yes", "--skip-preview"],
        ["stack", "rm", "--yes"],
    ):
        project.run(*command)


def test_aws_says_who_may_not_and_why(tmp_path: Path, aws: KeyManagementService) -> None:
    project = Project(tmp_path)
    project.environment.update(aws.may_all)
    url = "awskms://alias/one"

    def refused(**variables: str) -> str:
        return project.failing("stack", "init", "dev", "--secrets-provider", url, **variables)

    assert "kms:Decrypt" in refused(**aws.may_encrypt), "a key that may encrypt alone is refused before it is used"
    assert "AWS_SECRET_ACCESS_KEY" in refused(AWS_SECRET_ACCESS_KEY="wrong")
    assert "access key is not known" in refused(AWS_ACCESS_KEY_ID="AKIAUNKNOWN")
    assert "set AWS_REGION" in refused(AWS_REGION="")
    assert "cannot be reached" in refused(AWS_ENDPOINT_URL_KMS="http://127.0.0.1:1")
    assert not (project.directory / "Pulumi.dev.yaml").exists()
    project.run("stack", "init", "dev", "--secrets-provider", url)
