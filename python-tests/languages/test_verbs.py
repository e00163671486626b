"""Verbs and flags of Pulumi's command line that tools send."""

import json
from pathlib import Path

import pytest
from cli import Project

UP = ("up", "--yes", "--skip-preview")
PROGRAM = """import pulumi
config = pulumi.Config()
pulumi.export("size", config.get("size"))
pulumi.export("token", config.get_secret("token"))
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with a program and the stack `dev`."""
    project.write("__main__.py", PROGRAM)
    return project


def tags(project: Project, stack: str) -> object:
    return json.loads(project.run("stack", "tag", "ls", "--json", "--stack", stack).stdout)


def stacks(project: Project, *arguments: str) -> list[str]:
    return [stack["name"] for stack in json.loads(project.run("stack", "ls", "--json", *arguments).stdout)]


def test_tags_of_a_stack_go_with_it(shop: Project) -> None:
    assert tags(shop, "dev") == {}
    shop.run("stack", "tag", "set", "team", "web")
    shop.run("stack", "tag", "set", "cost:center", "-7")
    assert shop.run("stack", "tag", "get", "cost:center").stdout == "-7\n"
    assert "team         web\n" in shop.run("stack", "tag", "list").stdout
    (file,) = (shop.directory / ".maloko").rglob("dev.pulumi-tags")
    assert json.loads(file.read_text()) == {"version": 1, "tags": {"cost:center": "-7", "team": "web"}}
    shop.run("stack", "new", "qa", "--no-select")
    assert (stacks(shop, "--tag", "team"), stacks(shop, "--tag", "team=db")) == (["dev"], [])
    shop.run("stack", "tag", "remove", "team")
    shop.run("stack", "tag", "rm", "team")
    missing = shop.run("stack", "tag", "get", "team", code=1).stderr
    assert "stack tag 'team' not found for stack 'dev'" in missing
    assert "cannot be a tag" in shop.run("stack", "tag", "set", "a b", "c", code=2).stderr
    shop.run("stack", "select", "dev", "--tag", "team=ops", "--tag", "zone=a=b")
    assert tags(shop, "dev") == {"cost:center": "-7", "team": "ops", "zone": "a=b"}
    shop.run("stack", "tag", "rm", "zone")
    shop.run("stack", "select", "new", "--create", "--tag", "team=web")
    assert tags(shop, "new") == {"team": "web"}
    assert "write NAME=VALUE" in shop.run("stack", "select", "newer", "--create", "--tag", "team", code=2).stderr
    assert "newer" not in stacks(shop)
    shop.run("stack", "select", "dev")
    shop.run("stack", "tag", "rm", "team")

    shop.run("stack", "rename", "live")
    assert (tags(shop, "live"), file.exists()) == ({"cost:center": "-7"}, False)
    elsewhere = f"file://{shop.directory}/elsewhere"
    (shop.directory / "elsewhere").mkdir()
    shop.run("stack", "migrate", "--to", elsewhere, "--remove-source", "--yes")
    there = shop.run("stack", "tag", "ls", "--json", "--stack", "live", "--backend", elsewhere).stdout
    assert json.loads(there) == {"cost:center": "-7"}
    shop.run("stack", "rm", "live", "--yes", "--backend", elsewhere)
    assert list((shop.directory / "elsewhere").rglob("*.pulumi-tags")) == []


def test_the_configuration_of_the_last_operation_comes_back(shop: Project) -> None:
    assert "no previous deployment of the stack 'dev'" in shop.run("config", "refresh", code=1).stderr
    shop.run("config", "set", "size", "3")
    shop.run("config", "set", "--secret", "token", "t0p")
    shown = shop.run("config", "--json", "--show-secrets", "--open").stdout
    shop.run(*UP)
    settings = shop.directory / "Pulumi.dev.yaml"
    settings.write_text("# by hand\n" + settings.read_text())
    shop.run("config", "set", "size", "4")
    shop.run("config", "set", "more", "x")
    changed = settings.read_text()
    told = shop.run("config", "refresh").stdout
    assert told.splitlines() == [
        f"backed up existing configuration file to {settings}.bak",
        "refreshed configuration for stack 'dev'",
    ]
    assert Path(f"{settings}.bak").read_text() == changed
    assert shop.run("config", "--json", "--show-secrets").stdout == shown
    assert settings.read_text().startswith("# by hand\n")
    settings.unlink()
    assert "backed up" not in shop.run("config", "refresh", "--force").stdout
    assert shop.run("config", "--json", "--show-secrets").stdout == shown


def test_values_are_copied_to_another_stack_under_its_own_key(shop: Project) -> None:
    shop.run("config", "set", "size", "3")
    shop.run("config", "set", "--path", "box.token", "--secret", "t0p")
    shop.run("stack", "init", "qa", "--no-select")
    shop.run("config", "cp", "--dest", "qa", "size")
    assert shop.run("config", "get", "size", "--stack", "qa", "--open").stdout == "3\n"
    shop.run("config", "copy", "--dest", "qa", "--path", "box.token")
    assert shop.run("config", "get", "--path", "box.token", "--stack", "qa").stdout == "t0p\n"
    shop.run("stack", "init", "live", "--copy-config-from", "dev", "--no-select")
    everything = shop.run("config", "--json", "--show-secrets", "--stack", "dev").stdout
    assert shop.run("config", "--json", "--show-secrets", "--stack", "live").stdout == everything
    texts = [(shop.directory / f"Pulumi.{name}.yaml").read_text() for name in ("dev", "qa", "live")]
    assert "t0p" not in "".join(texts)
    salts = {line for text in texts for line in text.splitlines() if line.startswith("encryptionsalt")}
    assert len(salts) == 3
    assert "copied to itself" in shop.run("config", "cp", "--dest", "dev", code=2).stderr
    assert shop.run("config", "cp", "--dest", "none", code=6).stdout == ""
    shop.run("config", "set", "--raw", "--path", "box.size", "3")
    assert json.loads(shop.run("config", "get", "--json", "box").stdout)["objectValue"]["size"] == "3"


def test_a_former_state_is_exported_by_the_version_of_its_operation(shop: Project) -> None:
    for size in ("1", "2"):
        shop.run("config", "set", "size", size)
        shop.run(*UP)

    def size_in(*version: str) -> object:
        exported = json.loads(shop.run("stack", "export", *version).stdout)
        return exported["deployment"]["resources"][0]["outputs"]["size"]

    assert (size_in("--version", "1"), size_in("--version", "2"), size_in()) == ("1", "2", "2")
    assert "has no version 3" in shop.run("stack", "export", "--version", "3", code=1).stderr
    shown = json.loads(
        shop.run("state", "get", "urn:pulumi:dev::trial::pulumi:pulumi:Stack::trial-dev", "--output", "json").stdout
    )
    assert (shown["type"], shown["outputs"]["size"]) == ("pulumi:pulumi:Stack", "2")
    assert "URN" in shop.run("stack", "get", "--show-urns").stdout
    drawn = shop.run("stack", "graph", "--dot-fragment", "rankdir=LR;").stdout
    assert drawn.splitlines()[:2] == ["strict digraph {", "    rankdir=LR;"]
    assert "nothing to upgrade" in shop.run("state", "upgrade", "--yes").stdout
    shop.run("stack", "unselect")
    assert "no stack is selected" in shop.failing("stack", "output")


def test_logins_are_made_and_forgotten_by_pulumis_flags(shop: Project) -> None:
    there = f"file://{shop.directory}/states"
    (shop.directory / "states").mkdir()
    shop.run("login", "--cloud-url", there)
    assert "Not logged in to file://~" in shop.run("logout", "--local").stdout
    assert there in shop.run("whoami", "--verbose").stdout
    assert f"Logged out of {there}" in shop.run("logout", "--cloud-url", there).stdout
    shop.run("login", "-c", there)
    assert f"Logged out of {there}" in shop.run("logout", "--all").stdout
    shown = shop.run("about", "env", PULUMI_CONFIG_PASSPHRASE="hush", PULUMI_STACK="dev").stdout
    assert "hush" not in shown
    assert any(line.split()[0] == "PULUMI_STACK" and line.endswith("dev") for line in shown.splitlines())
    assert "_maloko" in shop.run("gen-completion", "bash").stdout
    for verb in (["get-default"], ["set-default", "acme"]):
        assert "do not support organizations" in shop.run("org", *verb, code=1).stderr


def test_verbs_of_pulumi_cloud_are_refused_in_a_line_with_the_reason(shop: Project) -> None:
    for line, reason in {
        "env ls": "`env` belongs to Pulumi ESC",
        "config env add prod --yes": "`config env` belongs to Pulumi ESC",
        "deployment run --flag": "`deployment` belongs to Pulumi Cloud",
        "stack schedule ls": "`stack schedule` belongs to Pulumi Cloud",
        "org member list": "`org member` belongs to Pulumi Cloud",
        "console": "`maloko stack page --open` shows it",
        "state promote x": "`maloko import` writes code",
        "convert --from terraform": "let `pulumi convert` do it",
    }.items():
        told = shop.run(*line.split(), code=2)
        assert told.stdout == ""
        assert reason in told.stderr
        assert told.stderr.count("\n") == 1


def test_flags_without_a_meaning_here_are_taken_and_others_are_refused_with_a_reason(shop: Project) -> None:
    shop.write("__main__.py", PROGRAM + "pulumi.log.debug('a detail')\n")
    taken = ["--suppress-permalink=false", "--skip-plugin-pre-install", "--show-config", "--show-reads", "--urns"]
    taken += ["--show-replacement-steps", "--show-full-output=true", "--run-program=true"]
    shown = shop.run(*UP, *taken, "--secrets-provider", "default", "--debug").stdout
    assert "a detail" in shown
    assert "a detail" not in shop.run("preview", *taken).stdout
    for flag, reason in {
        "--attach-debugger": "start maloko itself under the debugger",
        "--run-program=false": "`refresh` and `destroy` work without it",
        "--override-env=prod": "belong to Pulumi ESC",
        "--neo": "an agent of Pulumi Cloud",
    }.items():
        assert reason in shop.run(*UP, flag, code=2).stderr
    assert "converters are plugins" in shop.run("import", "--from", "terraform", "--", "./state", code=2).stderr
