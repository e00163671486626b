"""What a user gets to see when files, stacks, passphrases, permissions or locks are not as they should be."""

import contextlib
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from cli import Project, begin, wait_for
from night import LONG

ECHO = """
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("made", dict(props))


class Thing(Resource):
    def __init__(self, name, props=None):
        super().__init__(Provider(), name, props or {})
"""
UP = ["up", "--yes", "--skip-preview"]
AFTER_PREVIEW = ["up", "--yes"]


def refused(project: Project, *arguments: str, **environment: str) -> str:
    """The complaint about a command: on stderr only, with --json as well, and in one line of plain words."""
    done = project.run(*arguments, code=None, **environment)
    assert done.returncode not in (0, 255), done.stdout + done.stderr
    as_json = project.run(*arguments, "--json", code=None, **environment)
    assert as_json.returncode == done.returncode
    assert as_json.stdout == ""
    assert ageless(as_json.stderr) == ageless(done.stderr)
    assert "panicked" not in done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def ageless(said: str) -> str:
    """Without the age of a lock: the clock goes on between two commands."""
    return re.sub(r"\d+ seconds? ago", "N seconds ago", said)


def stack_file(project: Project) -> Path:
    return next((project.directory / ".maloko").rglob("stacks/*/dev.json"))


@contextlib.contextmanager
def unchanged(file: Path) -> Iterator[None]:
    before = file.read_bytes()
    yield
    assert file.read_bytes() == before


def test_a_missing_project_file_says_where_it_was_looked_for(project: Project) -> None:
    (project.directory / "Pulumi.yaml").unlink()
    said = refused(project, *UP)
    assert f"no Pulumi.yaml found in {project.directory}" in said
    assert "maloko new" in said


def test_a_malformed_project_file_is_refused_with_its_line(project: Project) -> None:
    for text, place, reason in [
        ("name: [a\nruntime: python\n", ":2:", "not valid YAML"),
        ("name: trial\n\truntime: python\n", ":2:", "not valid YAML"),
        ("name: trial\nruntime: python\nconfig:\n  - a\n", ":3: ", "`config` must be a mapping; it is a list"),
        ("name: trial\nruntime: ruby\n", ":2: ", "no language plugin 'pulumi-language-ruby' found"),
        ("name: a b\nruntime: python\n", ":1: ", "the project name 'a b' may hold only"),
        ("name: trial\n", ": ", "`runtime` is missing"),
        ("runtime: python\n", ": ", "`name` is missing"),
        ("", ": ", "this one is empty"),
        ("name: trial\nruntime: python\nmain: nowhere\n", ":3: ", "which is not there; correct `main`"),
    ]:
        file = project.write("Pulumi.yaml", text)
        said = refused(project, *UP)
        assert f"{file}{place}" in said
        assert reason in said
    file.write_bytes(b"name: trial\nruntime: \xff\n")
    assert f"{file}:2: this is no UTF-8 text" in refused(project, *UP)


def test_a_malformed_settings_file_is_refused_with_its_line(project: Project) -> None:
    file = project.directory / "Pulumi.dev.yaml"
    good = file.read_text()
    for text, place, reason in [
        ("config: [a\n", ":2:", "not valid YAML"),
        (f"{good}config: 5\n", ":2: ", "`config` must be a mapping of keys to values; it is a number"),
        (f"{good}config:\n  trial:a:\n    secure: v1:xxx\n", ":3: ", "`trial:a`: a secret ('v1:xxx...') cannot be"),
        ("encryptionsalt: v1:garbage\n", ":1: ", "'v1:garbage' is not a salt string"),
        ("a\n", ": ", "this is a text"),
    ]:
        file.write_text(text)
        said = refused(project, *UP)
        assert f"{file}{place}" in said
        assert reason in said
    file.write_bytes(good.encode() + b"config:\n  a: \xff\n")
    assert f"{file}:3: this is no UTF-8 text" in refused(project, *UP)
    file.write_text(good)
    project.run(*UP)


def test_environments_of_the_settings_are_refused_wherever_configuration_is_used(project: Project) -> None:
    file = project.directory / "Pulumi.dev.yaml"
    good = file.read_text()
    line = good.count("\n") + 1
    file.write_text(f"{good}environment:\n  - my-env\n")
    commands = [UP, ["config"], AFTER_PREVIEW, ["preview"], ["refresh", "--yes"], ["destroy", "--yes"]]
    for command in commands[: 6 if LONG else 2]:
        assert f"{file}:{line}: `environment` names" in refused(project, *command)
    assert "this backend does not support environments" in refused(project, "config", "get", "a")
    assert "this backend does not support environments" in project.failing("check")
    project.run("config", "set", "a", "1")
    file.write_text(good)
    project.run(*UP)


def test_a_malformed_state_is_refused_and_left_alone(project: Project) -> None:
    project.write("__main__.py", f"{ECHO}\nThing('a')\n")
    project.run(*UP)
    file = stack_file(project)
    good = file.read_text()

    def with_resource(change, author: str = "v3.200.0") -> str:
        document = json.loads(good)
        # What `pulumi` wrote has no seal of ours to keep to.
        magic = hashlib.sha256(author.encode()).hexdigest()
        document["checkpoint"]["latest"]["manifest"].update(version=author, magic=magic)
        change(document["checkpoint"]["latest"]["resources"][-1])
        return json.dumps(document)

    own = json.loads(good)["checkpoint"]["latest"]["manifest"]["version"]

    for text, reason in [
        ("", "it is missing or empty"),
        ("{", "EOF while parsing"),
        (good[:-20], "at line 1 column"),
        ('{\n "version": 3,\n "checkpoint": {,}}', "at line 3 column"),
        ("[]", "expected an object with 'version'"),
        ('{"version": 99}', "it has format 99"),
        (with_resource(lambda resource: resource.pop("urn")), "a resource has no URN"),
        (with_resource(lambda resource: resource.update(urn=5)), "expected a URN"),
        (with_resource(lambda resource: resource.update(outputs=[1])), "expected an object of properties"),
        (
            with_resource(lambda resource: resource.update(parent="urn:pulumi:dev::trial::x::nope")),
            "does not come before it",
        ),
        (
            with_resource(lambda resource: resource.update(protect=True), own),
            "is not as maloko left it: changed resource: urn:",
        ),
    ]:
        file.write_text(text)
        with unchanged(file):
            said = refused(project, *UP)
        assert str(file) in said
        assert reason in said
        assert "Nothing was changed" in said
    file.write_text(good)
    assert "unchanged" in project.run(*UP).stdout


def test_files_that_would_keep_a_command_busy_or_out_do_not(project: Project) -> None:
    project.write("__main__.py", "")
    project.run(*UP)
    # What a crash of the machine may leave: the system's lock is what counts.
    (lease,) = (project.directory / ".maloko").rglob("dev/lease")
    lease.write_bytes(b"\xff\xfe damaged \x80\n")
    assert "unchanged" in project.run(*UP).stdout
    settings = project.directory / "Pulumi.dev.yaml"
    kept = settings.read_text() if settings.exists() else ""
    settings.write_text(f"{kept}nested: {'[' * 200_000}\n")
    assert "more than 1000 brackets are open" in project.run(*UP, code=2).stderr


def test_an_unknown_stack_is_named_with_what_to_do(project: Project) -> None:
    said = refused(project, *UP, "--stack", "nope")
    assert "no stack named 'nope' found in file://" in said
    assert "maloko stack init nope" in said
    assert project.run(*UP, "--stack", "nope", code=6).stdout == ""
    for name in ("..", "a/b/c/d", "a b"):
        assert f"'{name}'" in refused(project, *UP, "--stack", name)


def test_a_command_without_a_stack_says_how_to_choose_one(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("__main__.py", "")
    said = refused(project, *UP)
    assert "no stack is selected" in said
    assert "maloko stack init NAME" in said
    for name in ("dev", "qa"):
        project.run("stack", "init", name, "--no-select")
    said = refused(project, *UP)
    assert "--stack NAME" in said
    assert "maloko stack select NAME" in said


def test_a_wrong_or_missing_passphrase_changes_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.environment["PULUMI_CONFIG_PASSPHRASE"] = "test"
    project.run("stack", "init", "dev")
    project.write("__main__.py", f"{ECHO}\nThing('a')\n")
    project.run(*UP)
    project.write("__main__.py", f"{ECHO}\nThing('b')\n")
    with unchanged(stack_file(project)):
        for arguments in (AFTER_PREVIEW, ["destroy", "--yes"], UP, ["preview"])[: 4 if LONG else 2]:
            said = project.run(*arguments, code=None, PULUMI_CONFIG_PASSPHRASE="wrong")
            assert said.returncode != 0
            assert "incorrect passphrase: the one in PULUMI_CONFIG_PASSPHRASE" in said.stdout + said.stderr
            assert "created" not in said.stdout
            assert "deleted" not in said.stdout
        del project.environment["PULUMI_CONFIG_PASSPHRASE"]
        said = refused(project, *UP)
        assert "the passphrase of the stack's secrets is not known" in said
        assert "PULUMI_CONFIG_PASSPHRASE_FILE" in said
        said = refused(project, *UP, PULUMI_CONFIG_PASSPHRASE_FILE="/nowhere/passphrase")
        assert "there is no file /nowhere/passphrase" in said
    project.run(*UP, PULUMI_CONFIG_PASSPHRASE="test")


def test_a_state_that_cannot_be_written_begins_nothing(project: Project) -> None:
    """The suites may run as root, whom no mode keeps from writing: a file stands where a directory is needed."""
    project.write("__main__.py", f"import pathlib\n{ECHO}\npathlib.Path('ran').touch()\nThing('a')\n")
    locks = project.directory / ".maloko" / ".pulumi" / "locks"
    shutil.rmtree(locks)
    locks.write_text("")
    said = refused(project, *UP)
    assert str(locks) in said
    assert "a file is where a directory should be" in said
    assert not (project.directory / "ran").exists()
    locks.unlink()
    project.run(*UP)
    elsewhere = project.write("elsewhere", "")
    said = refused(project, *UP, "--backend", f"file://{elsewhere}/state")
    assert str(elsewhere) in said


def test_a_locked_stack_says_who_holds_it_and_since_when(project: Project) -> None:
    project.write(
        "__main__.py",
        "import pathlib, time\n"
        "pathlib.Path('begun').touch()\n"
        "while not pathlib.Path('go-on').exists(): time.sleep(0.01)\n",
    )
    running = begin(project, *UP)
    wait_for(project.directory / "begun")
    said = refused(project, *UP)
    assert f"(`maloko up`, process {running.pid} on " in said
    assert "'dev' is locked by maloko of " in said
    assert " UTC, " in said
    assert " ago). Wait until it is done." in said
    project.write("go-on", "")
    running.communicate(timeout=60)
    assert running.returncode == 0
    project.run(*UP)


def test_a_plugin_that_is_missing_is_named_and_the_rest_stays(project: Project) -> None:
    project.write(
        "__main__.py",
        f"import pulumi\n{ECHO}\nThing('a')\npulumi.CustomResource('aws:s3/bucket:Bucket', 'pictures', {{}})\n",
    )
    for arguments in (["preview"], AFTER_PREVIEW, UP):
        said = project.failing(*arguments)
        assert "no resource plugin 'pulumi-resource-aws' found" in said
    events = project.run(*UP, "--json", code=None)
    errors = [json.loads(line).get("diagnosticEvent", {}) for line in events.stdout.splitlines()]
    assert any("pulumi:providers:aws::default" in error.get("urn", "") for error in errors)
    assert events.stderr == ""
    project.write("__main__.py", "import pulumi\npulumi.runtime.invoke('aws:index/getRegion:getRegion', {})\n")
    assert "no resource plugin 'pulumi-resource-aws' found" in project.failing("preview")
    assert "__main__.py:2: the package 'aws' is used" in project.failing("check")
    pet = "import pulumi\nclass Pet(pulumi.CustomResource):\n    def __init__(self, name):\n"
    project.write("__main__.py", f"{pet}        super().__init__('random:index/randomPet:RandomPet', name)\n")
    assert "__main__.py:4: the package 'random' is used" in project.failing("check")
    project.write("__main__.py", f"{ECHO}\nThing('a')\n")
    project.run(*UP)


def test_an_sdk_that_is_not_installed_is_named_as_that(project: Project) -> None:
    project.write("__main__.py", "import pulumi\nimport pulumi_acme.web as web\n")
    said = project.failing("check")
    assert "__main__.py:2: the SDK 'pulumi_acme' is imported and not installed" in said
    assert "run `maloko install`" in said
    assert "no resource plugin" not in said


def test_a_remote_component_without_its_plugin_ends_the_run(project: Project) -> None:
    site = (
        "import pulumi\nclass Site(pulumi.ComponentResource):\n"
        "    def __init__(self, name):\n        options = pulumi.ResourceOptions(version='1.2.3')\n"
        "        super().__init__('acme:web:Site', name, {}, options, remote=True)\n"
    )
    project.write("__main__.py", f"{site}{ECHO}\nThing('a')\nSite('front')\n")
    for arguments in (["preview"], AFTER_PREVIEW, UP):
        said = project.failing(*arguments)
        assert "no resource plugin 'pulumi-resource-acme' found in the workspace at version v1.2.3" in said
    assert "__main__.py:5: the package 'acme' is used: no resource plugin" in project.failing("check")
    # So do its methods and functions, and packages that are made from another one's parameters.
    project.write(
        "__main__.py",
        "import pulumi\npulumi.runtime.call('acme:web:Site/check', {}, None, None, None)\n",
    )
    assert "no resource plugin 'pulumi-resource-acme' found" in project.failing("preview")
    project.write(
        "__main__.py",
        "import pulumi\noptions = pulumi.InvokeOptions(version='2.0.0')\n"
        "pulumi.runtime.invoke('acme:web:list', {}, options)\n",
    )
    assert "no resource plugin 'pulumi-resource-acme' found in the workspace at version v2.0.0" in project.failing(
        "preview"
    )
    project.write(
        "__main__.py",
        "import pulumi\nfrom pulumi.runtime import settings\n"
        "made = settings.register_package('terraform', '0.5.0', '', 'random', '3.6.0', 'e30=')\n"
        "class Pet(pulumi.CustomResource):\n"
        "    def __init__(self, name):\n"
        "        super().__init__('random:index:Pet', name, {}, None, None, made)\n"
        "Pet('rex')\n",
    )
    assert "no resource plugin 'pulumi-resource-terraform' found in the workspace at version v0.5.0" in project.failing(
        "preview"
    )
    project.write("__main__.py", f"{ECHO}\nThing('a')\n")
    project.run(*UP)


def test_another_runtime_is_named_with_the_command_that_serves_it(project: Project) -> None:
    project.write("Pulumi.yaml", "name: trial\nruntime: nodejs\n")
    assert "npx maloko" in refused(project, *UP)
