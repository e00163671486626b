"""Stacks that refer to each other, and values that are kept."""

import json

import pytest
from cli import Project
from night import LONG

PROGRAM = """
import pulumi

if pulumi.get_stack() == "prod":
    pulumi.export("id", "net-1")
    pulumi.export("token", pulumi.Output.secret("t0p-secret"))
    pulumi.export("list", [1, {"a": [None, True]}])
else:
    network = pulumi.StackReference("network", pulumi.Config().require("other"))

    async def details():
        secret, plain = await network.get_output_details("token"), await network.get_output_details("id")
        return [secret.value, secret.secret_value == "t0p-secret", plain.value, plain.secret_value]

    pulumi.export("id", network.require_output("id"))
    pulumi.export("token", network.get_output("token"))
    pulumi.export("list", network.get_output("list"))
    pulumi.export("missing", network.get_output("gone").apply(lambda value: value is None))
    pulumi.export("details", pulumi.Output.from_input(details()))
"""

OTHER_KEY = """
import hashlib
import os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class P(ResourceProvider):
    def create(self, props):
        return CreateResult("1", props)


class User(Resource):
    def __init__(self, logical_name, **props):
        super().__init__(P(), logical_name, props)


if pulumi.get_stack() == "prod":
    pulumi.export("id", "net-1")
    pulumi.export("token", pulumi.Output.secret("t0p-secret"))
    pulumi.export("db", {"user": "ada", "password": pulumi.Output.secret("t0p-secret")})
else:
    network = pulumi.StackReference("network", "organization/trial/prod")

    def used(value):
        with open("used", "w") as file:
            file.write(hashlib.sha256(str(value).encode()).hexdigest())
        return "a"

    async def details(name):
        found = await network.get_output_details(name)
        return used(found.value or found.secret_value)

    async def awaited(output):
        return used(await output.future())

    asked = {
        "plain": lambda: network.get_output("id"),
        "plain member": lambda: network.get_output("db")["user"],
        "get": lambda: network.get_output("token"),
        "require": lambda: network.require_output("token"),
        "outputs": lambda: network.outputs["token"],
        "inside of a text": lambda: pulumi.Output.concat("postgres://", network.outputs["token"], "@host"),
        "secret member": lambda: network.get_output("db")["password"],
        "export": lambda: pulumi.export("token", network.get_output("token")),
        "used: get": lambda: network.get_output("token").apply(used),
        "used: require": lambda: network.require_output("token").apply(used),
        "used: secret member": lambda: network.get_output("db")["password"].apply(used),
        "used: object": lambda: network.get_output("db").apply(used),
        "used: of all outputs": lambda: network.outputs["token"].apply(used),
        "used: all outputs": lambda: network.outputs.apply(used),
        "used: with others": lambda: pulumi.Output.all(1, network.get_output("token")).apply(used),
        "used: details": lambda: details("token"),
        "used: awaited": lambda: awaited(network.get_output("token")),
        "plain, used: get": lambda: network.get_output("id").apply(used),
        "plain, used: member": lambda: network.require_output("db")["user"].apply(used),
        "plain, used: of all outputs": lambda: network.outputs["id"].apply(used),
        "plain, used: details": lambda: details("id"),
    }[os.environ["ASK"]]()
    User("user", name="u", asked=asked)
"""

STASH = """
import pulumi

stash = pulumi.Stash("kept", input=pulumi.Config().require_object("value"))
pulumi.export("input", stash.input)
pulumi.export("output", stash.output)
"""


@pytest.fixture
def network(project: Project) -> Project:
    """A project whose stack `prod` is deployed."""
    project.write("__main__.py", PROGRAM)
    project.run("stack", "init", "prod")
    project.run("up", "--yes", "--stack", "prod")
    return project


def outputs(project: Project, *arguments: str) -> dict[str, object]:
    return json.loads(project.run("stack", "output", "--json", "--stack", "dev", *arguments).stdout)


def test_a_stack_reference_gives_the_outputs_of_another_stack_by_every_form_of_its_name(network: Project) -> None:
    for name in ("prod", "organization/prod", "organization/trial/prod"):
        network.run("config", "set", "other", name, "--stack", "dev")
        network.run("up", "--yes", "--skip-preview", "--stack", "dev")
        given = outputs(network)
        assert given["id"] == "net-1"
        assert given["list"] == [1, {"a": [None, True]}]
        assert given["missing"] is True
        assert given["details"] == [None, True, "net-1", None]
    network.run("refresh", "--yes", "--skip-preview", "--stack", "dev")
    network.run("preview", "--stack", "dev", "--expect-no-changes")
    network.run("destroy", "--yes", "--skip-preview", "--stack", "dev")


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_secret_outputs_of_another_stack_stay_secret(network: Project) -> None:
    network.run("config", "set", "other", "prod", "--stack", "dev")
    said = network.run("up", "--yes", "--diff", "--stack", "dev")
    assert outputs(network)["token"] == "[secret]"
    assert outputs(network, "--show-secrets")["token"] == "t0p-secret"
    files = [file for file in (network.directory / ".maloko").rglob("*") if file.is_file()]
    assert not [file for file in files if b"t0p-secret" in file.read_bytes()]
    assert "t0p-secret" not in said.stdout + said.stderr


def test_a_secret_of_another_stack_that_cannot_be_decrypted_fails_the_run_that_asks_for_it(project: Project) -> None:
    project.write("__main__.py", OTHER_KEY)
    project.run("stack", "init", "prod", PULUMI_CONFIG_PASSPHRASE="another")
    project.run("up", "--yes", "--skip-preview", "--stack", "prod", PULUMI_CONFIG_PASSPHRASE="another")
    up = ("up", "--yes", "--skip-preview", "--stack", "dev")
    used = project.directory / "used"
    asked = [
        ("get", "token"),
        ("require", "token"),
        ("outputs", "token"),
        ("inside of a text", "token"),
        ("secret member", "db"),
        ("used: get", "token"),
        ("used: require", "token"),
        ("used: secret member", "db"),
        ("used: object", "db"),
        ("used: of all outputs", "token"),
        ("used: all outputs", "db"),
        ("used: with others", "token"),
        ("used: details", "token"),
        ("used: awaited", "token"),
        ("export", "token"),
    ]
    by_day = ("get", "secret member", "used: all outputs", "used: awaited", "export")
    for ask, key in (it for it in asked if LONG or it[0] in by_day):
        said = project.failing(*up, ASK=ask)
        sentence = f"the output '{key}' of the stack 'organization/trial/prod' is a secret that cannot be decrypted"
        assert said.count(sentence) == 1, ask
        assert "KeyError" not in said
        assert not used.exists(), ask
        exported = project.run("stack", "export", "--stack", "dev").stdout
        assert ask == "export" or "dynamic:Resource::user" not in exported, "no user was made"
    for ask in ("plain", "plain member"):
        project.run(*up, ASK=ask)
    for ask in ("get", "member", "of all outputs", "details") if LONG else ("details",):
        project.run(*up, ASK=f"plain, used: {ask}")
        assert used.exists(), ask
        used.unlink()
    # Whoever destroys asks for nothing.
    project.run("destroy", "--yes", "--skip-preview", "--stack", "dev", "--run-program", ASK="used: get")
    assert used.exists()


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_reference_to_a_stack_that_is_not_there_names_it_and_the_way_to_write_names(network: Project) -> None:
    network.run("config", "set", "other", "organization/other/prod", "--stack", "dev")
    said = network.failing("preview", "--stack", "dev")
    assert "there is no stack 'organization/other/prod' in file://" in said
    assert "organization/<project>/<stack>" in said


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_a_stash_keeps_its_first_value_until_it_is_replaced(project: Project) -> None:
    project.write("__main__.py", STASH)
    for value in ({"n": [1, None]}, {"n": [2]}):
        project.run("config", "set", "value", json.dumps(value), "--stack", "dev")
        project.run("up", "--yes", "--stack", "dev")
        assert outputs(project) == {"input": value, "output": {"n": [1, None]}}
    urn = "urn:pulumi:dev::trial::pulumi:index:Stash::kept"
    project.run("up", "--yes", "--stack", "dev", "--replace", urn)
    assert outputs(project)["output"] == {"n": [2]}


# In Python alone: the same Rust code, asked once; in Node other tests show that it is there
def test_functions_of_packages_need_their_plugins(project: Project) -> None:
    project.write("__main__.py", "import pulumi\npulumi.runtime.invoke('aws:s3/getBucket:getBucket', {})\n")
    said = project.failing("preview", "--stack", "dev")
    assert "no resource plugin 'pulumi-resource-aws' found" in said
