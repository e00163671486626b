"""Names, errors and lock files of somebody else: they give no orders to a terminal or a shell, and forge no lines."""

import json
import re
import socket

from cli import Project

PROGRAM = """
import os
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

EVIL = "evil\\x1b[2J\\x9b31m\\u202e\\nForged: line"


class P(ResourceProvider):
    def create(self, props):
        if os.environ.get("FAILS"):
            raise RuntimeError("no \\x1b]0;title\\x07room `\\x1b[0m`` here\\x9b2J\\u202e")
        return CreateResult("id\\x1b[1m\\nForged: id", {**props, "key\\x1b[2J": EVIL})


class Thing(Resource):
    def __init__(self, name):
        super().__init__(P(), name, {"text": EVIL})


Thing(EVIL)
if os.environ.get("FAILS"):
    Thing("other")
pulumi.export("fine", "it's")
pulumi.export("$(touch hacked)", "x")
pulumi.export("a;touch hacked;b", "x")
pulumi.export("odd\\x1b[2J\\nForged: output", EVIL)
"""

ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """A text, after a look that no terminal obeys anything in it and that it has no line of somebody else's."""
    assert not ORDERS.search(text), repr(text[ORDERS.search(text).start() - 100 :][:200])
    return text


def test_names_ids_and_errors_give_no_orders_to_a_terminal(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    on_dev = ("--stack", "dev")
    for form in ("--json", "--output=json"):
        assert "evil" in harmless(project.run("preview", form, *on_dev).stdout)
    shown = [
        harmless(project.run(*command, *on_dev).stdout)
        for command in (
            ("up", "--yes", "--skip-preview", "--message", "one\x1b[2J\nStatus: Forged:"),
            ("stack", "--show-ids", "--show-urns"),
            ("stack", "history"),
            ("stack", "history", "show", "1"),
            ("stack", "graph", "--short-node-name"),
            ("stack", "output"),
            ("stack", "--json"),
            ("stack", "output", "--json"),
        )
    ]
    for text in shown[1:5]:
        # The value of an output may have lines; they stand in their column.
        assert not re.search(r"^ {0,12}(Forged|Status: Forged)", text, re.MULTILINE), text
    # What a document says is the same.
    assert json.loads(shown[-1])["odd\x1b[2J\nForged: output"] == "evil\x1b[2J\x9b31m\u202e\nForged: line"


def test_an_error_ends_no_block_of_a_summary(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    up = ("up", "--yes", "--skip-preview", "--stack", "dev")
    done = project.run(*up, "--summary", "markdown", code=None, FAILS="1")
    summary = harmless(done.stdout)
    harmless(done.stderr)
    fence = re.search("^(`+)text$", summary, re.MULTILINE)
    assert fence, summary
    assert len(fence[1]) > 3
    harmless(project.run(*up, "--json", code=None, FAILS="1").stdout)


def test_a_lock_of_somebody_else_gives_no_orders(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    lock = {
        "pid": 1,
        "username": "eve\x1b[2J\nForged: line",
        "hostname": socket.gethostname() + "-other\x9b2J",
        "timestamp": "2026-01-01T00:00:00Z",
    }
    place = ".maloko/.pulumi/locks/organization/trial/dev/0b7d0ad5-6d0c-4a9c-a7a1-32e5a7b3f3a1.json"
    project.write(place, json.dumps(lock))
    for command in (("stack",), ("up", "--yes", "--skip-preview"), ("cancel", "dev", "--yes")):
        done = project.run(*command, *([] if command[0] == "cancel" else ["--stack", "dev"]), code=None)
        said = harmless(done.stdout + done.stderr)
        assert not re.search("^Forged", said, re.MULTILINE), said
        assert "eve" in said or command[0] == "cancel"


def test_outputs_whose_names_are_no_variables_are_left_out_for_a_shell(project: Project) -> None:
    project.write("__main__.py", PROGRAM)
    project.run("up", "--yes", "--skip-preview", "--stack", "dev")
    done = project.run_through(
        'set -e; said=$("$@"); eval "$said"; echo "fine is $fine"', "stack", "output", "--shell", "--stack", "dev"
    )
    assert (done.returncode, done.stdout) == (0, "fine is it's\n"), done.stderr
    assert not (project.directory / "hacked").exists()
    said = harmless(done.stderr)
    assert "left out: '$(touch hacked)', 'a;touch hacked;b', 'odd Forged: output'" in said
