"""Pages: what they show of a stack, of a run, and of one that was killed; who may follow a run; summaries for CI."""

import json
from typing import Any

import pytest
from cli import Project
from pages import data_of, followed

PROGRAM = """
import os, pathlib, signal, time
import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider

class Servers(ResourceProvider):
    def diff(self, id_, olds, news):
        replaces = [key for key in ("size", "host") if olds.get(key) != news.get(key)]
        return DiffResult(bool(replaces), replaces)

    def create(self, props):
        pathlib.Path("created").touch()
        if os.path.exists("refuse"):
            raise RuntimeError("the quota is used up")
        if os.path.exists("die"):
            while '"kind":"call","name":"create"' not in pathlib.Path("run.html").read_text():
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGKILL)
        while os.path.exists("wait"):
            time.sleep(0.02)
        return CreateResult(f"{props['kind']}-{props.get('size', 0):.0f}", props)

class Server(Resource):
    def __init__(self, name, **props):
        super().__init__(Servers(), name, {"kind": name, **props})

db = Server("db", size=SIZE)
web = Server("web", host=db.id)
pulumi.export("address", web.id)
"""
UP = ("up", "--yes", "--skip-preview", "--stack", "dev")
HOSTILE = "</script><script>alert(1)</script><!--\u2028& é"


def program(project: Project, size: int = 1) -> None:
    project.write("__main__.py", PROGRAM.replace("SIZE", str(size)))


def page(project: Project, name: str = "run.html") -> dict[str, Any]:
    return data_of((project.directory / name).read_text())


def steps(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps with the names of what they are about, but for those that change nothing."""
    names = [resource["name"] for resource in data["resources"]]
    return [{**step, "name": names[step["resource"]]} for step in data["run"]["steps"] if step["op"] != "same"]


def test_the_page_of_a_run_holds_its_resources_steps_and_calls(project: Project) -> None:
    program(project)
    project.run("up", "--yes", "--stack", "dev", "--message", "the first one", "--page", "run.html")
    data = page(project)
    assert (data["format"], data["project"], data["stack"]) == (1, "trial", "dev")
    run = data["run"]
    assert (run["kind"], run["dryRun"], run["outcome"]) == ("update", False, "succeeded")
    assert run["message"] == "the first one"
    assert run["changes"] == {"create": 3}
    assert data["outputs"] == {"address": "web-0"}
    places = {resource["name"]: place for place, resource in enumerate(data["resources"])}
    web = data["resources"][places["web"]]
    assert web["inputs"]["host"] == "db-1"
    assert web["id"] == "web-0"
    assert "Servers" in web["providerClass"]
    assert {"on": places["db"], "properties": ["host"]} in web["dependencies"]
    assert data["resources"][web["parent"]]["type"] == "pulumi:pulumi:Stack"
    done = {step["name"]: (step["op"], step["status"]) for step in steps(data)}
    assert done["db"] == done["web"] == ("create", "done")
    calls = {(call["name"], call.get("resource")): call for call in run["activities"] if call["kind"] == "call"}
    for name in ("db", "web"):
        assert calls["create", places[name]]["outcome"] == "ok"
    # What was planned, by the preview of the same command.
    assert {(item["resource"], item["op"]) for item in run["plan"]} >= {(places["db"], "create")}
    path = run["criticalPath"]
    assert path
    assert sum(item["duration"] for item in path) <= run["duration"] + 1


def test_the_page_of_a_run_says_because_of_what_something_is_replaced(project: Project) -> None:
    program(project)
    project.run(*UP)
    program(project, size=2)
    project.run("preview", "--stack", "dev", "--page", "preview.html")
    project.run(*UP, "--page", "run.html")
    for name, kind in (("preview.html", "preview"), ("run.html", "update")):
        data = page(project, name)
        assert data["run"]["kind"] == kind
        replaced = {step["name"]: step for step in steps(data) if step["op"] == "replace"}
        db, web = replaced["db"], replaced["web"]
        assert db["keys"] == ["size"]
        assert "because" not in db
        [change] = [change for change in db["changes"] if change["path"] == "size"]
        assert change == {"path": "size", "kind": "update", "replace": True, "old": 1, "new": 2}
        assert web["because"] == {"resource": db["resource"], "kind": "property", "property": "host"}
    # The operations of the past, newest first.
    data = page(project)
    [db] = [resource for resource in data["resources"] if resource["name"] == "db"]
    assert [(item["version"], item["op"]) for item in db["operations"]] == [(1, "create")]
    assert [item["version"] for item in data["history"]] == [1]


@pytest.mark.parametrize("verb", ["refresh", "destroy"])
def test_other_operations_have_a_page_too(project: Project, verb: str) -> None:
    program(project)
    project.run(*UP)
    project.run(verb, "--yes", "--skip-preview", "--stack", "dev", "--page", "run.html")
    data = page(project)
    assert (data["run"]["kind"], data["run"]["outcome"]) == (verb, "succeeded")
    gone = [resource["name"] for resource in data["resources"] if resource.get("gone")]
    assert ("web" in gone) == (verb == "destroy")


def test_a_run_that_fails_has_its_error_on_the_call(project: Project) -> None:
    program(project)
    project.write("refuse", "")
    project.run(*UP, "--page", "run.html", code=1)
    data = page(project)
    run = data["run"]
    assert run["outcome"] == "failed"
    [failed] = [call for call in run["activities"] if call.get("outcome") == "failed"]
    assert failed["name"] == "create"
    assert data["resources"][failed["resource"]]["name"] == "db"
    assert "the quota is used up" in failed["error"]
    assert "in create" in failed["traceback"]
    assert any("the quota is used up" in said["message"] for said in run["diagnostics"] if said["severity"] == "error")


def test_a_run_that_is_killed_leaves_a_page_that_says_so(project: Project) -> None:
    program(project)
    project.write("die", "")
    done = project.run(*UP, "--page", "run.html", code=None)
    assert done.returncode != 0
    data = page(project)
    assert data["run"]["outcome"] == "unfinished"
    [running] = [step for step in steps(data) if step["status"] == "running" and step["name"] == "db"]
    assert running["op"] == "create"
    [call] = [call for call in data["run"]["activities"] if call["kind"] == "call" and call["name"] == "create"]
    assert "duration" not in call
    # The page of the stack knows of it, too.
    (project.directory / "die").unlink()
    project.run("stack", "page", "-o", "stack.html")
    data = page(project, "stack.html")
    assert "run" not in data
    [unresolved] = data["unresolvedCreates"]
    assert (unresolved["name"], unresolved["inputs"]["size"]) == ("db", 1)
    assert unresolved["reason"]


def test_the_page_of_a_stack_is_named_after_it(project: Project) -> None:
    program(project)
    project.run(*UP)
    said = project.run("stack", "page").stdout
    assert "trial-dev.html" in said
    data = page(project, "trial-dev.html")
    assert {"db", "web"} <= {resource["name"] for resource in data["resources"]}
    assert data["outputs"] == {"address": "web-0"}
    assert [item["version"] for item in data["history"]] == [1]
    printed = project.run("stack", "page", "-o", "-").stdout
    assert data_of(printed)["resources"] == data["resources"]


def test_the_history_has_the_pages_of_its_runs(project: Project) -> None:
    assert "has no history yet" in project.failing("stack", "history", "page")
    program(project)
    project.run(*UP)
    program(project, size=2)
    project.run(*UP)
    first = data_of(project.run("stack", "history", "page", "1", "-o", "-").stdout)
    assert first["run"]["changes"] == {"create": 3}
    assert "trial-dev-2.html" in project.run("stack", "history", "page").stdout
    newest = page(project, "trial-dev-2.html")
    assert {step["name"] for step in steps(newest) if step["op"] == "replace"} == {"db", "web"}
    assert newest["run"]["version"] == 2
    # What each run did to a resource, property by property; the steps of a replacement are one.
    [db] = [resource for resource in newest["resources"] if resource["name"] == "db"]
    assert [(item["version"], item["op"], item.get("keys")) for item in db["operations"]] == [
        (2, "replace", ["size"]),
        (1, "create", None),
    ]
    assert "size" in {change["path"] for change in db["operations"][0]["changes"]}
    # Neither a version that is not there, nor one that has no page.
    assert "has no version 9: it has 1 to 2" in project.failing("stack", "history", "page", "9")
    for entry in (project.directory / ".maloko").rglob("*.history.json"):
        known = json.loads(entry.read_text())
        known.pop("malokoRun", None)
        entry.write_text(json.dumps(known))
    said = project.failing("stack", "history", "page", "1")
    assert "version 1 of the stack 'dev' has no page" in said
    assert "Traceback" not in said


def test_the_history_shows_one_run_in_words(project: Project) -> None:
    program(project)
    project.run(*UP)
    program(project, size=2)
    project.run(*UP, "--message", "larger")
    said = project.run("stack", "history", "show").stdout
    assert "larger" in said
    assert "because db is replaced" in said
    assert "changed: size" in said
    assert "create pulumi-python:dynamic:Resource db" in project.run("stack", "history", "show", "1").stdout
    assert "has no version 3" in project.failing("stack", "history", "show", "3")


def test_texts_of_users_are_no_markup(project: Project) -> None:
    project.write(
        "__main__.py",
        f"HOSTILE = {HOSTILE!r}\n"
        + """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Provider(ResourceProvider):
    def create(self, props):
        if "fails" in props:
            raise RuntimeError(HOSTILE)
        return CreateResult(HOSTILE, props)

class Thing(Resource):
    def __init__(self, name, props):
        super().__init__(Provider(), name, props)

Thing(HOSTILE, {HOSTILE: HOSTILE})
pulumi.log.info(HOSTILE)
pulumi.export(HOSTILE, HOSTILE)
Thing("failing", {"fails": True})
""",
    )
    plain = project.run("stack", "page", "-o", "-").stdout
    done = project.run(*UP, "--page", "run.html", "--message", HOSTILE, "--summary", "markdown", code=1)
    summary = done.stdout
    table = [line for line in summary.splitlines() if line.startswith("|")]
    assert not any("<script>" in line for line in table)
    pages = [(project.directory / "run.html").read_text()]
    pages += [project.run(*command, "-o", "-").stdout for command in (["stack", "page"], ["stack", "history", "page"])]
    for text in pages:
        # The page's own elements alone, whatever is in its data.
        assert "<script>alert" not in text
        assert text.count("</script>") == plain.count("</script>")
        data = data_of(text)
        [thing] = [resource for resource in data["resources"] if resource["name"] == HOSTILE]
        assert thing["inputs"][HOSTILE] == thing["id"] == HOSTILE
    run = page(project)["run"]
    assert run["message"] == HOSTILE
    assert any(HOSTILE in said["message"] for said in run["diagnostics"] if said["severity"] == "info")
    # The line separator ends a line of the traceback that it is taken from.
    assert any(HOSTILE.replace("\u2028", "\n") in call.get("error", "") for call in run["activities"])


def test_a_live_page_follows_a_run_to_its_end(project: Project) -> None:
    program(project)
    wait = project.write("wait", "")
    with followed(project, *UP) as (live, out, err):
        assert "Follow the run at http://127.0.0.1:" in err.read_text()
        assert "Follow the run" not in out.read_text()
        answer = live.ask("/")
        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert '<script type="application/json" id="maloko-data">' in answer.read().decode()
        events = live.events()
        name, text = next(events)
        assert name == "page"
        data = json.loads(text)
        assert data["run"]["outcome"] == "unfinished"
        wait.unlink()
        more = [(name, json.loads(text)) for name, text in events]
        assert {name for name, _ in more} == {"more"}
    last = more[-1][1]["run"]
    assert last["outcome"] == "succeeded"
    assert last["criticalPath"]
    done = {place: step["status"] for place, step in enumerate(data["run"]["steps"])}
    for _, part in more:
        done |= {place: step["status"] for place, step in part.get("steps", [])}
    assert set(done.values()) == {"done"}
    # Nobody serves it any more.
    with pytest.raises(ConnectionRefusedError):
        live.ask("/")


def test_a_live_page_is_for_its_own_address_alone(project: Project) -> None:
    program(project)
    wait = project.write("wait", "")
    with followed(project, *UP) as (live, _, _):
        own = live.place.netloc
        for path in ("/", "/events"):
            assert live.ask(path, token="wrong").status == 403
            assert live.ask(path, Origin="http://elsewhere.example").status == 403
            assert live.ask(path, Origin=f"https://{own}").status == 403
            assert live.ask(path, Host="elsewhere.example").status == 403
        assert live.ask("/", Origin=f"http://{own}").status == 200
        assert live.ask("/", method="POST").status == 405
        assert live.ask("/other").status == 404
        wait.unlink()


def test_a_summary_for_ci_is_alone_on_stdout(project: Project) -> None:
    program(project)
    done = project.run(*UP, "--summary", "markdown", "--page", "run.html")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("### Update of `trial/dev` succeeded in ")
    assert "3 create" in lines
    table = [line for line in lines if line.startswith("| create |")]
    assert any("| web |" in line for line in table)
    assert lines[-1] == "The page of this run: `run.html`"
    assert "Resources:" in done.stderr
    assert "Resources:" not in done.stdout
    program(project, size=2)
    summary = project.run("preview", "--stack", "dev", "--summary", "markdown").stdout
    assert summary.startswith("### Preview of `trial/dev` succeeded")
    assert "because db is replaced" in summary
    project.write("refuse", "")
    done = project.run(*UP, "--summary", "markdown", code=1)
    assert "### Update of `trial/dev` failed" in done.stdout
    assert "**Error of db**" in done.stdout
    assert "the quota is used up" in done.stdout


def test_a_page_that_cannot_be_written_is_told_before_anything_is_done(project: Project) -> None:
    program(project)
    project.write("a-file", "")
    said = project.failing(*UP, "--page", "a-file/run.html")
    assert "run.html (from --page) cannot be written" in said
    assert not (project.directory / "created").exists()


def test_a_short_run_is_not_explained_in_the_terminal(project: Project) -> None:
    program(project)
    said = project.run(*UP).stdout
    assert "Slowest calls" not in said
    assert "Critical path" not in said
