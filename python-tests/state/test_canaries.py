"""Secrets are in plain text nowhere: canaries in every place that can hold a secret, and a search through all that is left."""

# ruff: noqa: E501  (lines of the program under test)

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from canaries import CANARIES, LINES, files, hits
from cli import Project
from collector import Collector, collector
from night import by_day
from pages import data_of, followed

PROGRAM = """
import base64, html, json, os, pathlib, subprocess, sys, time, urllib.parse
import dataclasses
import pulumi
from maloko import PartialFailure, TypedProvider
from pulumi.dynamic import CreateResult, ReadResult, Resource, ResourceProvider, UpdateResult

WORLD = json.loads(pathlib.Path(os.environ["WORLD"]).read_text())
config = pulumi.Config()
MODE = config.get("mode") or ""


class Holder:
    def __init__(self, secret):
        self.secret = secret

    def __repr__(self):
        return f"Holder({self.secret!r})"


def encoded(text):
    return base64.b64encode(f"user:{text}".encode()).decode()


def say(text):
    data = text.encode()
    for stream in (1, 2):
        os.write(stream, b"said in two pieces: " + data[:7])
        os.write(stream, data[7:] + b"\\n")
    print(text, repr(text), json.dumps(text), json.dumps({"x": text}, ensure_ascii=False), flush=True)
    print(encoded(text), urllib.parse.quote(text), urllib.parse.quote_plus(text), html.escape(text), file=sys.stderr, flush=True)
    subprocess.run(["printf", "%s", "from a child: " + text], check=True)
    print()
    for log in (pulumi.log.debug, pulumi.log.info, pulumi.log.warn):
        log(f"in the log: {text}")


class Leaky(ResourceProvider):
    def __init__(self, token):
        self.api_token = token

    def create(self, props):
        for secret in (config.require("password"), config.require("pem"), props["secret"], props["deep"][0]["nested"], self.api_token):
            say(secret)
        secret = props["secret"]
        if props["mode"] == "raise":
            try:
                raise ValueError(f"Basic {encoded(secret)}")
            except ValueError as error:
                raise RuntimeError(f"401 for /?key={urllib.parse.quote(secret)} with {Holder(secret)!r} and {self.api_token}") from error
        if props["mode"] == "partial":
            raise PartialFailure("made", {**props, "made": WORLD["result"]}, [f"{secret} was refused", encoded(secret), self.api_token])
        if props["mode"] == "unwritable":
            return CreateResult("made", {**props, "bad": Holder(secret)})
        if props["mode"] == "kill":
            while '"kind":"call","name":"create"' not in pathlib.Path("killed.html").read_text():
                time.sleep(0.02)
            os._exit(9)
        while pathlib.Path("wait").exists():
            time.sleep(0.02)
        return CreateResult("made", {**props, "made": WORLD["result"]})

    def read(self, id_, props):
        say(props.get("made") or "nothing was made")
        return ReadResult(id_, {**props, "made": WORLD["read"]})

    def update(self, id_, olds, news):
        say(olds["made"])
        raise RuntimeError(f"cannot update {olds['made']} to {news!r}")

    def delete(self, id_, props):
        say(props.get("made") or "nothing was made")
        if pathlib.Path("refuse").exists():
            raise RuntimeError(f"cannot delete {props!r}: {base64.b64encode(props['made'].encode()).decode()}")


class Thing(Resource):
    made: pulumi.Output[str]

    def __init__(self, name, **props):
        super().__init__(
            Leaky(WORLD["token"]),
            name,
            {
                "secret": pulumi.Output.secret(WORLD["input"]),
                "deep": [{"nested": pulumi.Output.secret(WORLD["nested"])}],
                "made": None,
                **props,
            },
            pulumi.ResourceOptions(additional_secret_outputs=["made"], transforms=[note], hooks=HOOKS),
        )


@dataclasses.dataclass
class Sized:
    size: int


class Typed(TypedProvider[Sized, Sized]):
    def create(self, inputs):
        return CreateResult("typed", inputs)


def note(args):
    print("transform", args.name)
    return None


def hook(args):
    if MODE == "hook":
        raise RuntimeError(f"the hook saw {args.new_inputs!r}")


HOOKS = pulumi.ResourceHookBinding(before_create=[pulumi.ResourceHook("look", hook)])

if MODE == "program":
    pulumi.Output.secret(WORLD["input"]).apply(lambda text: exec("raise RuntimeError(f'the program failed with {text}')"))
say(config.require("password"))
if MODE != "nothing":
    thing = Thing("one", mode=MODE, size=config.get_int("size") or 1)
    if MODE == "types":
        Resource(Typed(), "two", {"size": pulumi.Output.secret(WORLD["input"])})
    pulumi.export("exported", pulumi.Output.secret(WORLD["exported"]))
    pulumi.export("thing", thing.made)
"""


class Trial:
    """A project, all that its commands said, and where they could leave files."""

    def __init__(self, directory: Path) -> None:
        self.project = Project(directory / "project")
        self.project.write("__main__.py", PROGRAM)
        (directory / "temporary").mkdir()
        world = directory / "world.json"
        world.write_text(json.dumps(CANARIES))
        self.directory = directory
        self.said: list[tuple[str, bytes]] = []
        self.traces: Collector | None = None
        self.project.environment |= {
            "WORLD": str(world),
            "TMPDIR": str(directory / "temporary"),
            "HOME": str(directory / "project" / "home"),
            "PULUMI_CONFIG_PASSPHRASE": CANARIES["passphrase"],
        }

    def run(self, *arguments: str, fails: bool = False) -> str:
        done = self.project.run(*arguments, code=None)
        output = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, output
        shown = [argument for argument in arguments if argument not in CANARIES.values() and "CANARY" not in argument]
        self.said.append((" ".join(shown), output.encode()))
        return output

    def up(self, *arguments: str, fails: bool = False) -> str:
        return self.run("up", "--yes", *arguments, fails=fails)

    def follow(self, *arguments: str) -> None:
        """Runs a command with somebody who looks at its live page."""
        wait = self.project.write("wait", "")
        with followed(self.project, *arguments) as (live, _, _):
            for name, text in live.events():
                self.said.append((f"the event {name}", text.encode()))
                wait.unlink(missing_ok=True)

    def pages(self) -> None:
        """Makes every page that there is of the stack and its past."""
        self.run("stack", "page", "-o", "stack.html")
        for entry in json.loads(self.run("stack", "history", "--json")):
            page = self.run("stack", "history", "page", str(entry["version"]), "-o", "-")
            assert data_of(page)["run"]["outcome"] != "unfinished"
            self.run("stack", "history", "show", str(entry["version"]))

    def mode(self, mode: str) -> None:
        self.run("config", "set", "mode", mode)

    def leaks(self) -> list[str]:
        secrets = {**CANARIES, "a line of the key": LINES[1], "another line of the key": LINES[2]}
        found = [hit for place, output in self.said for hit in hits(place, output, secrets)]
        if self.traces is not None:
            found += [hit for path, _, body in self.traces.requests for hit in hits(path, body, secrets)]
        for root in ("project", "temporary"):
            for path in files(self.directory / root):
                found += hits(str(path.relative_to(self.directory)), path.read_bytes(), secrets)
        return found


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """What each trial begins with, made once."""
    trial = Trial(tmp_path_factory.mktemp("begun"))
    trial.run("stack", "init", "dev")
    trial.run("config", "set", "--secret", "password", CANARIES["config"])
    trial.run("config", "set", "--secret", "pem", "--", "\n".join(LINES))
    return trial


@pytest.fixture
def trial(tmp_path: Path, begun: Trial) -> Iterator[Trial]:
    trial = Trial(tmp_path)
    shutil.copytree(begun.directory, tmp_path, dirs_exist_ok=True)
    trial.said.extend(begun.said)
    with collector() as trial.traces:
        trial.project.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = trial.traces.address
        yield trial


def test_a_canary_in_every_place_shows_up_nowhere_while_all_goes_well(trial: Trial) -> None:
    trial.run("preview", "--diff")
    trial.run("preview", "--json")
    trial.run("preview", "--save-plan", "plan.json", "--page", "preview.html")
    trial.follow("up", "--yes", "--skip-preview", "--page", "up.html")
    assert "[secret]" in trial.up()
    trial.up("--json")
    trial.run("refresh", "--yes", "--diff", "--message", CANARIES["config"], "--page", "refresh.html")
    for command in (
        ["stack"],
        ["stack", "--show-urns", "--show-ids"],
        ["stack", "output"],
        ["stack", "output", "--json"],
        ["stack", "export"],
        ["stack", "export", "--file", "export.json"],
        ["stack", "history", "--json"],
        ["stack", "graph", "graph.dot"],
        ["config"],
        ["config", "--json"],
        ["about"],
        ["state", "reseal", "--yes"],
    ):
        trial.run(*command)
    trial.pages()
    trial.run("stack", "import", "--file", "export.json")
    trial.run("destroy", "--yes", "--diff", "--page", "destroy.html", "--summary", "markdown")
    assert trial.traces is not None
    assert trial.traces.spans
    assert trial.leaks() == []


@pytest.mark.parametrize(
    "mode",
    by_day(["raise", "partial", "unwritable", "hook", "program", "types"], lambda mode, _: mode == "program"),
)
def test_a_canary_in_every_place_shows_up_nowhere_when_a_run_fails(trial: Trial, mode: str) -> None:
    trial.mode(mode)
    trial.up("--skip-preview", fails=True)
    trial.up("--skip-preview", "--json", fails=True)
    trial.up("--skip-preview", "--page", "run.html", "--summary", "markdown", fails=True)
    trial.pages()
    trial.run("stack")
    trial.run("stack", "export")
    trial.mode("nothing")
    trial.run("up", "--yes", "--skip-preview")
    assert trial.leaks() == []


@pytest.mark.nightly
def test_a_canary_in_every_place_shows_up_nowhere_when_a_run_is_killed(trial: Trial) -> None:
    trial.mode("kill")
    trial.up("--skip-preview", "--page", "killed.html", fails=True)
    trial.run("stack", "page", "-o", "stack.html")
    assert any(path.name == "journal" for path in files(trial.project.directory)), "a journal is left"
    assert trial.leaks() == []
    trial.run("preview")
    trial.mode("")
    trial.up("--skip-preview")
    trial.run("stack")
    assert trial.leaks() == []


def test_a_canary_in_every_place_shows_up_nowhere_when_changes_and_deletions_fail(trial: Trial) -> None:
    trial.up("--skip-preview")
    trial.run("config", "set", "size", "2")
    trial.up("--skip-preview", "--page", "changes.html", "--summary", "markdown", fails=True)
    trial.project.write("refuse", "")
    trial.mode("nothing")
    trial.up("--skip-preview", "--diff", fails=True)
    trial.run("destroy", "--yes", "--skip-preview", "--no-program", "--page", "destroy.html", fails=True)
    trial.pages()
    assert trial.leaks() == []


def test_the_search_for_canaries_finds_what_is_asked_for(trial: Trial) -> None:
    trial.up("--skip-preview")
    trial.run("stack", "output", "--show-secrets")
    trial.run("stack", "export", "--show-secrets", "--file", "plain.json")
    (trial.directory / "temporary" / "log").write_bytes(b"GET /?key=" + CANARIES["token"].encode())
    page = (
        json.dumps(CANARIES["read"], ensure_ascii=False)
        .replace("<", r"\u003c")
        .replace(">", r"\u003e")
        .replace("&", r"\u0026")
    )
    trial.project.write("page.html", page)
    leaks = trial.leaks()
    for place, name in [
        ("stack output", "exported"),
        ("project/plain.json", "input"),
        ("temporary/log", "token"),
        ("project/page.html", "read"),
    ]:
        assert any(leak.startswith(place) and f"'{name}'" in leak for leak in leaks), leaks
    assert os.environ.get("PULUMI_CONFIG_PASSPHRASE") != CANARIES["passphrase"]
