"""What a new user of the command line meets: words that scripts look for, projects made and set up, helpful errors."""

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cli import Project
from night import LONG, by_day

from maloko import automation as auto

PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class LabelProvider(ResourceProvider):
    def create(self, props):
        return CreateResult("label-" + props["label"], {**props})


class Label(Resource):
    def __init__(self, name, label, opts=None):
        super().__init__(LabelProvider(), name, {"label": label}, opts)


first = Label("first", "bug", pulumi.ResourceOptions(protect=True))
Label("second", "docs", pulumi.ResourceOptions(depends_on=[first]))
"""


def urn_of(project: Project, name: str) -> str:
    found = re.search(rf"urn:pulumi:\S+::{name}\b", project.run("stack", "--show-urns").stdout)
    assert found is not None
    return found[0]


def test_texts_that_scripts_match_are_the_reference_s(project: Project) -> None:
    run, failing = project.run, project.failing
    assert run("stack", "history").stdout == "Stack has never been updated\n"
    assert "No resources currently in this stack" in run("stack").stdout
    project.write("__main__.py", PROGRAM)
    run("up", "--yes", "--skip-preview")
    first, second = urn_of(project, "first"), urn_of(project, "second")

    assert run("state", "unprotect", first).stdout == "1 resources unprotected\n"
    assert run("state", "protect", first, second).stdout == "2 resources protected\n"
    assert run("state", "unprotect", "--all", "--yes").stdout == "All resources unprotected\n"
    assert run("state", "protect", "--all", "--yes").stdout == "All resources protected\n"
    assert run("state", "taint", first).stdout == "1 resources tainted\n"
    assert run("state", "untaint", "--all", "--yes").stdout == "All resources untainted\n"
    assert f"{second} can't be safely deleted because it is protected" in failing("state", "delete", "--yes", second)
    assert "can't be safely deleted because the following resources depend on it" in failing(
        "state", "delete", "--yes", first
    )
    run("state", "unprotect", "--all", "--yes")
    assert run("state", "rename", "--yes", second, "third").stdout == "Resource renamed\n"
    assert run("state", "delete", "--yes", urn_of(project, "third")).stdout == "Resource deleted\n"
    assert f'No such resource "{second}" exists in the current state' in failing("state", "delete", "--yes", second)
    assert "The snapshot is already valid; skipping repair" in run("state", "repair", "--yes").stdout

    assert "Current stack resources (3):" in run("stack").stdout
    assert "Current stack outputs (0):\n    No output values currently in this stack" in run("stack", "output").stdout
    assert "current stack does not have output property 'none'" in failing("stack", "output", "none")
    assert "configuration key 'none' not found for stack 'dev'" in failing("config", "get", "none")
    assert "stack 'dev' already exists" in failing("stack", "init", "dev")
    exported = run("stack", "export").stdout
    project.write("state.json", exported)
    assert run("stack", "import", "--file", "state.json").stdout.startswith("Import complete.\n")
    assert "Wrote stack dependency graph to `" in run("stack", "graph", "graph.dot").stdout
    assert "'dev' still has resources; removal rejected" in failing("stack", "rm", "--yes")
    assert run("stack", "rename", "live").stdout == "Renamed dev to live\n"
    destroyed = run("destroy", "--yes", "--skip-preview").stdout
    assert "The resources in the stack have been deleted, but the history and configuration" in destroyed
    assert run("stack", "rm", "--yes", "live").stdout == "Stack 'live' has been removed!\n"
    assert run("state", "delete", "--all", "--yes", "--stack", "live", code=None).returncode == 6

    login = run("login", f"file://{project.directory}").stdout
    assert re.match(r"Logged in to \S+ as \S+ \(file://", login), login
    assert run("logout").stdout == f"Logged out of file://{project.directory}\n"


def test_output_json_prints_one_line_with_the_result(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    done = project.run("up", "--yes", "--output", "json")
    line = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert (line["result"], line["summary"]) == ("succeeded", {"create": 3})
    assert line["duration"] > 0
    assert {(it["name"], it["op"]) for it in line["resources"]} >= {("first", "create"), ("second", "create")}
    assert "Label first" in done.stderr or "Resource first" in done.stderr

    unchanged = json.loads(project.run("preview", "--output", "json").stdout)
    assert unchanged["summary"] == {"same": 3}
    assert "resources" not in unchanged
    assert project.run("up", "--yes", "--output", "json", "--json", code=None).returncode == 2

    project.write("__main__.py", PROGRAM.replace("return CreateResult(", 'raise OSError("no route")\n        return ('))
    project.run("state", "delete", "--yes", "--force", urn_of(project, "second"))
    failed = project.run("up", "--yes", "--skip-preview", "--output", "json", code=1)
    line = json.loads(failed.stdout)
    assert line["result"] == "failed"
    assert [it["name"] for it in line["resources"] if it.get("failed")] == ["second"]
    (error,) = [it["message"] for it in line["errors"] if it.get("urn", "").endswith("::second")]
    assert "OSError: no route" in error
    assert "OSError: no route" in failed.stderr

    for words in (["stack", "ls"], ["stack"], ["config"], ["about"], ["whoami"], ["stack", "history"])[
        : 6 if LONG else 2
    ]:
        wanted = project.run(*words, "--json").stdout
        assert json.loads(project.run(*words, "--output", "json").stdout) == json.loads(wanted), words
        default = project.run(*words, "--output", "default").stdout
        assert ageless(default) == ageless(project.run(*words).stdout), words


def ageless(text: str) -> str:
    """A text without how long ago something was."""
    return re.sub(r"\bnow\b|\d+ \w+ ago", "", text)


def wheel(directory: Path) -> None:
    """A package that can be installed without an index."""
    text = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
    files = {
        "tiny.py": "SIZE = 7\n",
        "tiny-1.0.dist-info/METADATA": text,
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tiny-1.0.dist-info/RECORD": "".join(
            f"{name},,\n"
            for name in ("tiny.py", *(f"tiny-1.0.dist-info/{it}" for it in ("METADATA", "WHEEL", "RECORD")))
        ),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    (directory / "tiny-1.0-py3-none-any.whl").write_bytes(packed.getvalue())


@pytest.mark.nightly
def test_install_installs_the_dependencies_of_the_project(project: Project) -> None:
    wheel(project.directory)
    project.write("requirements.txt", "./tiny-1.0-py3-none-any.whl\n")
    project.write("Pulumi.yaml", "name: trial\nruntime:\n  name: python\n  options:\n    virtualenv: own\n")
    assert project.run("install", "--no-dependencies").stdout == ""
    said = project.run("install", PIP_NO_INDEX="1")
    assert "Installing dependencies..." in said.stdout
    assert "Finished installing dependencies" in said.stdout
    shown = subprocess.run(
        [project.directory / "own/bin/python", "-c", "import tiny; print(tiny.SIZE)"], capture_output=True, check=True
    )
    assert shown.stdout == b"7\n"


@pytest.mark.nightly
def test_an_install_that_fails_names_its_command_and_the_automation_api_runs_the_same(project: Project) -> None:
    project.write("Pulumi.yaml", "name: trial\nruntime:\n  name: python\n  options:\n    virtualenv: own\n")
    project.write("requirements.txt", "no-such-package-at-all\n")
    failed = project.run("install", code=1, PIP_NO_INDEX="1")
    assert "-m pip install -r requirements.txt` ended with" in failed.stderr

    # The automation API runs the same command.
    project.write("requirements.txt", "")
    lines: list[str] = []
    workspace = auto.LocalWorkspace(work_dir=str(project.directory))
    workspace.install(on_output=lines.append)
    assert "Finished installing dependencies" in "".join(lines)


def template(directory: Path) -> Path:
    folder = directory / "template"
    (folder / "lib").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("not for projects")
    (folder / "Pulumi.yaml").write_text(
        "# kept\nname: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: python\n"
        "template:\n  description: Labels of a repository\n  config:\n"
        "    color:\n      description: Their colour\n      default: red\n"
        "    token:\n      secret: true\n"
    )
    (folder / "__main__.py").write_text("import pulumi\npulumi.export('project', '${PROJECT}')\n")
    (folder / "lib" / "data.bin").write_bytes(b"\xff\x00${PROJECT}")
    (folder / "lib" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "lib" / "run.sh").chmod(0o755)
    return folder


def test_new_takes_a_template_folder(project: Project) -> None:
    folder = template(project.directory)
    said = project.run("new", str(folder), "--dir", "made", "--name", "labels", "--yes", "-c", "token=hush-hush-1")
    assert "Created project 'labels'" in said.stdout
    assert "Created stack 'dev'" in said.stdout
    made = project.directory / "made"
    text = (made / "Pulumi.yaml").read_text()
    assert text.startswith("# kept\nname: labels\ndescription: Labels of a repository\nruntime: python\n")
    assert "template" not in text
    assert "'labels'" in (made / "__main__.py").read_text()
    assert (made / "lib" / "data.bin").read_bytes() == b"\xff\x00${PROJECT}"
    assert (made / "lib" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert not (made / ".git").exists()
    assert project.run("config", "get", "color", "--cwd", "made").stdout == "red\n"
    assert project.run("config", "get", "token", "--cwd", "made").stdout == "hush-hush-1\n"
    assert "hush-hush-1" not in (made / "Pulumi.dev.yaml").read_text()
    project.run("up", "--yes", "--skip-preview", "--cwd", "made")
    assert project.run("stack", "output", "project", "--cwd", "made").stdout == "labels\n"

    assert "there is no such folder" in project.failing("new", "nowhere", "--dir", "other")
    (project.directory / "many").mkdir()
    folder.rename(project.directory / "many" / "one")
    refused = project.failing("new", "many", "--dir", "other")
    assert "is no template" in refused
    assert str(project.directory / "many" / "one") in refused

    workspace = auto.LocalWorkspace(work_dir=str(project.directory), env_vars=project.environment)
    workspace.new(
        str(project.directory / "many" / "one"), dir="again", name="again", stack="live", config=["color=blue"]
    )
    assert project.run("config", "get", "color", "--stack", "live", "--cwd", "again").stdout == "blue\n"
    workspace.new(str(project.directory / "many" / "one"), dir="files", generate_only=True)
    assert not (project.directory / "files" / ".maloko").exists()


def test_new_writes_an_install_line_that_works_before_and_after_publication(project: Project, tmp_path: Path) -> None:
    def origin(text: str | None) -> str:
        """What `new` says in an installation whose origin is this one."""
        script = (
            "import sys\n"
            "from maloko._command_line import origin\n"
            f"origin.note_of = lambda package, name: {text or ''!r}\n"
            "from maloko.__main__ import run\n"
            "raise SystemExit(run(sys.argv[1:]))\n"
        )
        count = len(list(project.directory.glob("fresh*")))
        done = subprocess.run(
            [sys.executable, "-c", script, "new", "--dir", f"fresh{count}"],
            cwd=project.directory,
            env=project.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    file = tmp_path / "maloko-9.9.9-py3-none-any.whl"
    file.write_bytes(b"")
    from_file = json.dumps({"url": file.as_uri(), "archive_info": {}})
    assert f"  pip install {file} -r requirements.txt\n" in origin(from_file)
    # From an index, or when the file is gone: by name.
    assert "  pip install -r requirements.txt\n" in origin(None)
    file.unlink()
    assert "  pip install -r requirements.txt\n" in origin(from_file)


def test_output_json_says_what_changes_and_with_diff_from_what_to_what(project: Project) -> None:
    program = PROGRAM.replace('{"label": label}', '{"label": label, "token": pulumi.Output.secret("t-" + label)}')
    assert program != PROGRAM
    project.write("__main__.py", program)
    project.run("up", "--yes", "--skip-preview")
    project.write("__main__.py", program.replace('"bug"', '"wart"'))

    def first(*flags: str) -> dict[str, Any]:
        done = project.run("preview", "--output", "json", *flags)
        assert "t-bug" not in done.stdout
        assert "t-wart" not in done.stdout
        return next(it for it in json.loads(done.stdout)["resources"] if it["name"] == "first")

    assert first()["op"] == "update"
    assert first()["diffReasons"] == ["label", "token"]
    assert first()["detailedDiff"]["label"]["kind"] == "update"
    assert "diff" not in first()
    changed = first("--diff")["diff"]
    assert changed["label"] == {"kind": "update", "old": "bug", "new": "wart"}
    assert changed["token"] == {"kind": "update", "old": "[secret]", "new": "[secret]"}


LAZY = """
from pulumi.dynamic import Resource, ResourceProvider
class Lazy(ResourceProvider):
    def create(self, props):
        import other
class Thing(Resource):
    def __init__(self, name):
        super().__init__(Lazy(), name, {})
Thing("a")
"""


def test_a_syntax_error_s_summary_names_the_error(project: Project) -> None:
    place = project.write("__main__.py", "size = (\nwidth = 1\n")
    said = project.failing("preview")
    assert re.search(rf"^error: SyntaxError: .*\({re.escape(str(place))}:1\)\n +size = \(\n +\^$", said, re.M), said
    project.write("__main__.py", "import other\n")
    other = project.write("other.py", "size = 1\nwidth = [2\n")
    said = project.failing("preview")
    assert re.search(rf"^error: SyntaxError: .*\({re.escape(str(other))}:2\)\n +width = \[2\n +\^\n", said, re.M), said
    # Who imported it, and none of the frames between.
    assert re.findall(r' File "(.*)", line \d+', said) == [str(place)], said
    assert "import other" in said
    # And where a method of a provider meets it.
    project.write("__main__.py", LAZY)
    said = project.failing("up", "--yes", "--skip-preview")
    assert re.search(rf"SyntaxError: .*\({re.escape(str(other))}:2\)$", said, re.M), said
    assert "at other.py:2, from create (__main__.py:" in said


BELOW = """
import json
import other

other.work()
"""

WORKING = """
import json

def work():
    json.loads("{")
"""


def test_an_error_of_the_program_begins_with_what_it_is_and_where(project: Project) -> None:
    place = project.write("__main__.py", "size = 1\nimport requestz\n")
    first, *rest = project.failing("preview").partition("error: ")[2].splitlines()
    assert first == f"ModuleNotFoundError: No module named 'requestz' ({place}:2)"
    assert f'File "{place}", line 2, in <module>' in "\n".join(rest)
    assert "import requestz" in "\n".join(rest)
    # The message is not told again below the frames.
    assert "No module named" not in "\n".join(rest)
    project.write("__main__.py", "raise ValueError\n")
    assert f"error: ValueError ({place}:1)\n" in project.failing("preview")
    project.write("__main__.py", "raise ValueError('one\\ntwo')\n")
    assert f"error: ValueError: one ({place}:1)\n" in project.failing("preview")
    # The user's own line, where it is a library that raises.
    project.write("__main__.py", BELOW)
    other = project.write("other.py", WORKING)
    said = project.failing("preview")
    assert re.search(rf"^error: json\.decoder\.JSONDecodeError: .* \({re.escape(str(other))}:5\)$", said, re.M), said
    # What was behind it is told below.
    project.write(
        "__main__.py", "try:\n    {}['token']\nexcept KeyError as e:\n    raise ValueError('no token') from e\n"
    )
    said = project.failing("preview")
    assert f"error: ValueError: no token ({place}:4)\n" in said
    assert "KeyError: 'token'" in said
    assert "direct cause of the following exception" in said
    assert said.count("ValueError: no token") == 1


ASKING = """
import pulumi
from pulumi.dynamic import Resource, ResourceProvider
class Asking(ResourceProvider):
    def create(self, props):
        pulumi.Config("store").require("zone")
class Thing(Resource):
    def __init__(self, name):
        super().__init__(Asking(), name, {})
Thing("a")
"""


def test_missing_configuration_is_set_with_a_command_that_is_there(project: Project) -> None:
    asking = "import pulumi\npulumi.Config('store').require"
    project.write("__main__.py", f"{asking}('zone')\n")
    said = project.failing("preview")
    assert "Missing required configuration variable 'store:zone'" in said
    assert "using the command `maloko config set store:zone <value>`" in said
    project.write("__main__.py", f"{asking}_secret('zone')\n")
    assert "using the command `maloko config set --secret store:zone <value>`" in project.failing("preview")
    project.write("__main__.py", ASKING)
    said = project.failing("up", "--yes", "--skip-preview", "--show-tracebacks")
    assert "using the command `maloko config set store:zone <value>`" in said
    assert "pulumi config set" not in said
    # What others say is theirs.
    project.write("__main__.py", "raise ValueError('run `pulumi config set a b`')\n")
    assert "ValueError: run `pulumi config set a b`" in project.failing("preview")


def test_yes_with_preview_only_works(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    for verb in ("up", "refresh", "destroy"):
        assert "Preview" in project.run(verb, "--yes", "--preview-only").stdout
    assert "to create" in project.run("up", "--yes", "--preview-only").stdout
    assert urn_missing(project)
    assert project.run("up", "--skip-preview", "--preview-only", code=None).returncode == 2


def urn_missing(project: Project) -> bool:
    return "urn:" not in project.run("stack", "--show-urns").stdout


def test_a_missing_virtualenv_exits_2(project: Project) -> None:
    project.write("Pulumi.yaml", "name: trial\nruntime:\n  name: python\n  options:\n    virtualenv: venv\n")
    missing = project.run("preview", code=2)
    assert "Pulumi.yaml names the virtualenv venv" in missing.stderr
    assert "Run `maloko install`" in missing.stderr
    # One without maloko is a mistake of the same kind.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project.directory / "venv"], check=True)
    without = project.run("preview", code=2)
    assert "maloko is not installed there" in without.stderr


def test_stack_init_with_a_slash_explains_itself(project: Project) -> None:
    refused = project.run("stack", "init", "feature/x", code=2).stderr
    assert "a '/' separates the parts of organization/project/stack" in refused
    assert "without slashes it could be 'feature-x'" in refused
    assert "feature-x-y-z" in project.run("stack", "init", "feature/x/y/z", code=2).stderr


def test_a_backend_directory_that_does_not_exist_is_asked_about_or_refused(project: Project) -> None:
    nowhere = project.directory / "sate dir"
    refused = project.run("stack", "init", "other", "--backend", f"file://{nowhere}", code=2).stderr
    assert f"there is no directory {nowhere} (--backend)" in refused
    assert f"mkdir -p '{nowhere}'" in refused
    assert not nowhere.exists()
    nowhere.mkdir()
    project.run("stack", "init", "other", "--backend", f"file://{nowhere}")
    assert (nowhere / ".pulumi").is_dir()


def test_messages_name_help_topics_instead_of_paths_of_the_repository(project: Project) -> None:
    listed = project.run("--help").stdout
    assert "maloko help TOPIC" in listed
    topics = re.findall(r"^  ([a-z-]+) +\S", listed.partition("Topics")[2], re.MULTILINE)
    assert {"state", "backends", "command-line", "importing"} <= set(topics)
    # By day every third one.
    for topic in topics[:: 1 if LONG else 3]:
        text = project.run("help", topic).stdout
        assert text.startswith("# ")
        assert not re.search(r"\]\([^)]*\.md", text), topic
    assert project.run("help", "up").stdout == project.run("up", "--help").stdout
    assert project.run("help", "stack", "init").stdout == project.run("stack", "init", "--help").stdout
    unknown = project.run("help", "nonsense", code=2).stderr
    assert "neither a command nor a topic 'nonsense'" in unknown
    assert "backends" in unknown
    refused = project.run("stack", "ls", "--backend", "s3://bucket", code=None, AWS_EC2_METADATA_DISABLED="true").stderr
    assert ".md" not in refused


@pytest.mark.parametrize("given", by_day(["variable", "file"], lambda given, _: given == "file"))
def test_a_wrong_key_beside_another_one_names_both_once(tmp_path: Path, given: str) -> None:
    project = Project(tmp_path)
    project.write("secret.txt", "another one\n")
    project.run("stack", "init", "other")
    project.run("config", "set", "--secret", "token", "hush", "--stack", "other")
    key_file = project.directory / ".maloko" / "passphrase"
    variable = {"variable": "PULUMI_CONFIG_PASSPHRASE", "file": "PULUMI_CONFIG_PASSPHRASE_FILE"}[given]
    value = "another one" if given == "variable" else str(project.directory / "secret.txt")
    refused = project.run("config", "--show-secrets", "--stack", "other", code=None, **{variable: value}).stderr
    assert "incorrect passphrase" in refused
    assert refused.count(str(key_file)) == 1
    assert "goes before the key file" in refused
    assert f"unset {variable}" in refused


def test_code_printed_by_import_uses_the_resource_s_own_constructor(project: Project) -> None:
    project.write(
        "labels.py",
        """
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider


class LabelProvider(ResourceProvider):
    def create(self, props):
        return CreateResult("label-" + props["label"], {**props})

    def read(self, id_, props):
        return ReadResult(id_, {"label": id_.removeprefix("label-"), "color": "red"})


class Label(Resource):
    def __init__(self, name, label, color="blue", opts=None):
        super().__init__(LabelProvider(), name, {"label": label, "color": color}, opts)
""",
    )
    project.write("__main__.py", "from labels import Label\nLabel('bug', 'bug')\n")
    project.run("up", "--yes", "--skip-preview")
    said = project.run("import", "labels:LabelProvider", "docs", "label-docs", "--yes", "--skip-preview").stdout
    assert "from labels import Label\n" in said
    assert 'docs = Label("docs", label="docs", color="red", opts=pulumi.ResourceOptions(protect=True))' in said
    assert "class Imported" not in said
    code = said.partition("\nimport pulumi\n")[2]
    project.write("__main__.py", "import pulumi\n" + code.split("\n\nThe ")[0] + "\nLabel('bug', 'bug')\n")
    assert "3 unchanged" in project.run("up", "--yes", "--skip-preview").stdout
