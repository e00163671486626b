"""What a log of a healthy run of thirty resources says beside its steps, and other screens that say what is new."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from cli import Project

PROBE = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins" / "probe.py"
SCREENS = Path(__file__).parent / "screens"

# What public programs do: outputs that no class declares, ids among them, a plugin from $PATH, prints of the program.
PROGRAM = """
import json

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider, UpdateResult


class Records(ResourceProvider):
    def create(self, props):
        return CreateResult(f"rec-{props['host']}", {**props, "id": f"rec-{props['host']}", "etag": "e1", "ttl": 300})

    def update(self, id, olds, news):
        return UpdateResult({**news, "id": id, "etag": "e2", "ttl": 300})


class Record(Resource):
    host: pulumi.Output[str]

    def __init__(self, name, props, opts=None):
        super().__init__(Records(), name, props, opts)


class Monitors(ResourceProvider):
    def create(self, props):
        return CreateResult(f"mon-{props['of']}", {**props, "id": f"mon-{props['of']}", "created": "2026-01-01"})


class Monitor(Resource):
    def __init__(self, name, props, opts=None):
        super().__init__(Monitors(), name, props, opts)


class Site(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("shop:web:Site", name)


class Thing(pulumi.CustomResource):
    url: pulumi.Output[str]

    def __init__(self, name, props, opts=None):
        super().__init__("probe:index:Thing", name, {"url": None, **props}, opts)


print("deploying the shop")
color = pulumi.Config().get("color") or "red"
inside = pulumi.ResourceOptions(parent=Site("site"))
things = [Thing(f"thing-{n}", {"size": n + 1}, inside) for n in range(6)]
policy = lambda n: json.dumps({"weight": n, "color": color})
records = [Record(f"host-{n}", {"host": f"h{n}", "policy": policy(n)}, inside) for n in range(14)]
monitors = [Monitor(f"monitor-{n}", {"of": record.host}, inside) for n, record in enumerate(records[:8])]
pulumi.log.info("30 resources are described")
pulumi.export("hosts", [record.host for record in records[:2]])
pulumi.export("url", things[0].url)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    project = Project(tmp_path, "shop")
    project.write("__main__.py", PROGRAM)
    script = f'#!/bin/sh\nexec "{sys.executable}" "{PROBE}" "$@"\n'
    project.write("bin/pulumi-resource-probe", script).chmod(0o755)
    (tmp_path / "world").mkdir()
    project.environment |= {"PROBE_WORLD": str(tmp_path / "world"), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    project.run("stack", "init", "dev")
    return project


def screen(project: Project, *arguments: str) -> str:
    """What a command writes, without what differs from run to run: times, places, the order of what goes on at once."""
    done = project.run(*arguments)
    text = (done.stdout + done.stderr).replace(str(project.directory), "PROJECT")
    text = re.sub(r"\(\d[\w.]*\)", "(TIME)", text)
    text = re.sub(r"^Duration: .*", "Duration: TIME", text, flags=re.MULTILINE)
    # How long a run takes decides whether it says where its time went.
    text = re.sub(r"^(Critical path|Slowest calls):.*\n(?:  .*\n)*\n?", "", text, flags=re.MULTILINE)
    steps = re.compile(r"(?:^(?:[+~-] |(?:program|warning): ).*\n)+", re.MULTILINE)
    return steps.sub(lambda block: "".join(sorted(block[0].splitlines(keepends=True))), text).rstrip() + "\n"


def assert_screen(name: str, text: str) -> None:
    """Is it the screen that is kept? With INSTA_UPDATE=always it is kept from now on."""
    file = SCREENS / f"{name}.txt"
    if os.environ.get("INSTA_UPDATE") == "always":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()


def test_the_log_of_a_healthy_run_has_one_line_of_notice(shop: Project) -> None:
    first = screen(shop, "up", "--yes")
    assert len([line for line in first.splitlines() if line.startswith(("warning", "error", "note"))]) == 1
    assert_screen("healthy_run", first)
    shop.run("config", "set", "color", "blue")
    changed = screen(shop, "up", "--yes")
    assert "do not declare" not in changed, "the stack has heard of them"
    assert changed.count("from $PATH") == 1
    assert changed.count("Outputs:") == 1, "the preview shows what changes"
    unchanged = screen(shop, "up", "--yes")
    assert "Outputs:" not in unchanged
    shop.run("config", "set", "color", "green")
    assert '  ~ policy: (JSON)\n      ~ color: "blue" => "green"\n' in screen(shop, "preview", "--diff")


def test_ids_among_the_outputs_are_no_reason_for_a_notice(tmp_path: Path) -> None:
    project = Project(tmp_path, "undecl")
    project.write(
        "__main__.py",
        "import pulumi\nfrom pulumi.dynamic import CreateResult, Resource, ResourceProvider\n"
        "class Things(ResourceProvider):\n"
        "    def create(self, props):\n        return CreateResult('a1', {**props, 'id': 'a1'})\n"
        "class Thing(Resource):\n    pass\n"
        "pulumi.export('id', Thing(Things(), 'thing', {'x': 1}).id)\n",
    )
    project.run("stack", "init", "dev")
    done = project.run("up", "--yes", "--skip-preview")
    assert "warning" not in done.stdout + done.stderr


def test_a_stack_reference_that_fails_says_that_and_nothing_else(tmp_path: Path) -> None:
    project = Project(tmp_path, "reader")
    project.write(
        "__main__.py",
        "import pulumi\nnetwork = pulumi.StackReference('organization/network/dev')\n"
        "pulumi.export('a', network.require_output('subnet'))\n"
        "pulumi.export('b', network.get_output('subnet').apply(lambda it: it))\n",
    )
    project.run("stack", "init", "dev")
    done = project.run("up", "--yes", "--skip-preview", code=None)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "there is no stack 'organization/network/dev'" in said
    assert "program:" not in said
    assert "warning:" not in said


def test_an_update_that_no_property_explains_says_whose_word_it_is(tmp_path: Path) -> None:
    project = Project(tmp_path, "restless")
    project.write(
        "__main__.py",
        "from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult\n"
        "class Things(ResourceProvider):\n"
        "    def create(self, props):\n        return CreateResult('a1', props)\n"
        "    def diff(self, id, olds, news):\n        return DiffResult(changes=True)\n"
        "    def update(self, id, olds, news):\n        return UpdateResult(news)\n"
        "class Thing(Resource):\n    pass\n"
        "Thing(Things(), 'thing', {'x': 1})\n",
    )
    project.run("stack", "init", "dev")
    project.run("up", "--yes", "--skip-preview")
    for flags in ([], ["--diff"]):
        assert "thing update [the provider's diff says changed]" in project.run("preview", *flags).stdout


def test_creates_that_were_cut_off_are_explained_once_and_not_where_the_key_was_used(tmp_path: Path) -> None:
    project = Project(tmp_path, "cut")
    project.write(
        "__main__.py",
        "import os, threading, maloko\nfrom pulumi.dynamic import CreateResult, Resource, ResourceProvider\n"
        "all_at_once = threading.Barrier(3)\n"
        "class Things(ResourceProvider):\n"
        "    def create(self, props):\n"
        "        if os.environ.get('DIE'):\n            all_at_once.wait()\n            os.kill(os.getpid(), 9)\n"
        "        if os.environ.get('USE'):\n            maloko.current_call().operation_key\n"
        "        return CreateResult(props['x'], props)\n"
        "class Thing(Resource):\n    pass\n"
        "for n in range(3):\n    Thing(Things(), f'thing-{n}', {'x': f'x{n}'})\n",
    )
    project.run("stack", "init", "dev")
    up = ("up", "--yes", "--skip-preview")
    project.run(*up, code=None, DIE="1")
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path / ".maloko", kept)
    shown = project.run("preview").stdout
    assert "an earlier run ended while these 3 were made" in shown
    assert len(re.findall(r"^ +thing-\d: its create was under way when the run ended", shown, re.MULTILINE)) == 3
    said = project.run(*up).stdout
    assert said.count("there may now be one object too many") == 1
    assert len(re.findall(r"^.*thing-\d: an earlier run was interrupted while creating", said, re.MULTILINE)) == 3
    shutil.rmtree(tmp_path / ".maloko")
    shutil.move(kept, tmp_path / ".maloko")
    assert "too many" not in project.run(*up, USE="1").stdout
