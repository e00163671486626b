"""Calls each method of the official Automation API of Python, on real stacks, with whatever `pulumi` is on PATH.

It checks what the API promises of each: types and values of results, the classes of errors. One line of JSON per method
on stdout: `{"method", "result": "works" | "refused" | "fails", "note"}`. A method that is not called here is a failure,
too, so that a new SDK shows what is new in it.

The environment says where state is (`PULUMI_BACKEND_URL`, `PULUMI_CONFIG_PASSPHRASE`); the arguments are an empty
folder, and parts (`life`, `errors`, `local`); all without any.
"""

import inspect
import io
import json
import sys
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pulumi
from pulumi import automation as auto

# Members of the classes that are no methods for callers: their authors call them.
HOOKS = {"serialize_args_for_op", "post_command_callback"}


class Table:
    """What came of each method."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.failed = False

    def row(self, method: str, result: str, note: str = "") -> None:
        self.seen.add(method)
        self.failed |= result == "fails"
        print(json.dumps({"method": method, "result": result, "note": note}), flush=True)

    @contextmanager
    def method(self, *names: str, note: str = "") -> Iterator[None]:
        """The block calls them, and asserts what they promise."""
        failure = None
        try:
            yield
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        for name in names:
            self.row(name, "works" if failure is None else "fails", failure or note)

    @contextmanager
    def refusal(self, name: str, reason: str) -> Iterator[None]:
        """The block calls it, and it is refused with this reason in the error."""
        try:
            yield
        except auto.CommandError as error:
            if reason in str(error):
                self.row(name, "refused", reason)
            else:
                self.row(name, "fails", str(error))
        except Exception as error:
            self.row(name, "fails", f"{type(error).__name__}: {error}")
        else:
            self.row(name, "fails", "was not refused")


@contextmanager
def raises(kind: type[BaseException]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        if type(error) is not kind:
            raise AssertionError(f"{type(error).__name__} in place of {kind.__name__}") from error
        return
    raise AssertionError(f"no {kind.__name__} was raised")


class Group(pulumi.ComponentResource):
    def __init__(self, name: str, **options: Any) -> None:
        super().__init__("test:index:Group", name, None, pulumi.ResourceOptions(**options))
        self.register_outputs({})


class Program:
    """An inline program: tests change what it makes."""

    def __init__(self) -> None:
        self.names = ["a", "b"]

    def __call__(self) -> None:
        for name in self.names:
            Group(name)
        config = pulumi.Config()
        pulumi.export("size", config.get("size"))
        pulumi.export("token", pulumi.Output.secret("t0p"))
        pulumi.export("who", f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}")


def nothing() -> None:
    """A program without resources."""


def lives(table: Table) -> auto.Stack:
    """The life of an inline program's stack; gives the stack."""
    program = Program()
    with table.method("create_stack", "LocalWorkspace.create_stack"):
        stack = auto.create_stack("dev", "shop", program)
        assert isinstance(stack.workspace, auto.LocalWorkspace)
        assert stack.name == "dev"
        stack.workspace.create_stack("spare")
    with table.method("errors.StackAlreadyExistsError"), raises(auto.StackAlreadyExistsError):
        auto.create_stack("dev", "shop", nothing)
    with table.method("errors.StackNotFoundError"), raises(auto.StackNotFoundError):
        auto.select_stack("none", "shop", nothing)
    with table.method("select_stack", "LocalWorkspace.select_stack", "Stack.select"):
        stack = auto.select_stack("dev", "shop", program)
        stack.workspace.select_stack("dev")
        assert auto.Stack.select("dev", stack.workspace).name == "dev"
    with table.method("create_or_select_stack", "Stack.create_or_select"):
        stack = auto.create_or_select_stack("dev", "shop", program)
        auto.Stack.create_or_select("dev", stack.workspace)
    with table.method("Stack.create"):
        assert auto.Stack.create("other", stack.workspace).name == "other"
    with table.method("fully_qualified_stack_name"):
        assert auto.fully_qualified_stack_name("organization", "shop", "dev") == "organization/shop/dev"
        assert auto.select_stack("organization/shop/dev", "shop", program).name == "organization/shop/dev"
    configuration(table, stack)
    operations(table, stack, program)
    results(table, stack)
    return stack


def configuration(table: Table, stack: auto.Stack) -> None:
    for target, owner, names in ((stack, "Stack", ()), (stack.workspace, "LocalWorkspace", ("dev",))):
        with table.method(f"{owner}.set_config", f"{owner}.get_config"):
            target.set_config(*names, "size", auto.ConfigValue("21"))
            target.set_config(*names, "key", auto.ConfigValue("-k3y", secret=True))
            target.set_config(*names, "deep.list[0]", auto.ConfigValue("1"), path=True)
            assert (target.get_config(*names, "key").value, target.get_config(*names, "key").secret) == ("-k3y", True)
            assert target.get_config(*names, "deep.list[0]", path=True).value == "1"
            with raises(auto.CommandError):
                target.get_config(*names, "missing")
        with table.method(f"{owner}.set_all_config", f"{owner}.get_all_config"):
            target.set_all_config(*names, {"one": auto.ConfigValue("a=b"), "two": auto.ConfigValue("s", secret=True)})
            everything = target.get_all_config(*names)
            assert everything["shop:one"].value == "a=b"
            assert everything["shop:two"].secret
            assert json.loads(everything["shop:deep"].value) == {"list": [1]}
        with table.method(f"{owner}.set_all_config_json"):
            target.set_all_config_json(*names, json.dumps({"shop:three": {"value": "t", "secret": True}}))
            assert target.get_config(*names, "three").secret
        with table.method(f"{owner}.remove_config", f"{owner}.remove_all_config"):
            target.remove_config(*names, "one")
            target.remove_config(*names, "deep.list", path=True)
            target.remove_all_config(*names, ["two", "three", "deep", "missing"])
            assert set(target.get_all_config(*names)) == {"shop:size", "shop:key"}
        with table.method(f"{owner}.set_tag", f"{owner}.get_tag", f"{owner}.list_tags", f"{owner}.remove_tag"):
            assert target.list_tags(*names) == {}
            target.set_tag(*names, "team", "web shop")
            assert target.get_tag(*names, "team") == "web shop"
            assert target.list_tags(*names) == {"team": "web shop"}
            target.remove_tag(*names, "team")
            assert target.list_tags(*names) == {}
        reason = "belongs to Pulumi ESC"
        with table.refusal(f"{owner}.add_environments", reason):
            target.add_environments(*names, "prod")
        with table.refusal(f"{owner}.list_environments", reason):
            target.list_environments(*names)
        with table.refusal(f"{owner}.remove_environment", reason):
            target.remove_environment(*names, "prod")


def operations(table: Table, stack: auto.Stack, program: Program) -> None:
    events: list[Any] = []
    with table.method("Stack.preview"):
        previewed = stack.preview(on_event=events.append, diff=True)
        assert previewed.change_summary == {auto.OpType.CREATE: 3}
        assert events[-1].cancel_event is not None
        assert [event.sequence for event in events] == list(range(len(events)))
    with table.method("Stack.up"):
        lines: list[str] = []
        made = stack.up(message="first", on_output=lines.append)
        assert (made.summary.kind, made.summary.result, made.summary.message) == ("update", "succeeded", "first")
        assert made.summary.resource_changes == {"create": 3}
        assert (made.outputs["size"].value, made.outputs["size"].secret) == ("21", False)
        assert (made.outputs["token"].value, made.outputs["token"].secret) == ("t0p", True)
        assert made.outputs["who"].value == "organization/shop/dev"
        assert "t0p" not in made.stdout + made.stderr
        assert any("+ 3 created" in line for line in lines)
        program.names.remove("b")
        assert stack.up().summary.resource_changes == {"delete": 1, "same": 2}
        # Also where nothing changed there is an entry.
        assert stack.up(expect_no_changes=True).summary.resource_changes == {"same": 2}
    with table.method("Stack.refresh"):
        assert stack.refresh().summary.kind == "refresh"
    with table.method("Stack.preview_refresh"):
        assert sum(stack.preview_refresh().change_summary.values()) >= 1
    with table.method("Stack.preview_destroy"):
        assert stack.preview_destroy().change_summary == {auto.OpType.DELETE: 2}
    with table.method("Stack.refresh_config", "LocalWorkspace.refresh_config"):
        stack.set_config("size", auto.ConfigValue("1"))
        stack.refresh_config()
        assert stack.get_config("size").value == "21"
        stack.workspace.refresh_config("dev")


def results(table: Table, stack: auto.Stack) -> None:
    with table.method("Stack.outputs", "LocalWorkspace.stack_outputs"):
        for outputs in (stack.outputs(), stack.workspace.stack_outputs("dev")):
            assert {name: (found.value, found.secret) for name, found in outputs.items()} == {
                "size": ("21", False),
                "token": ("t0p", True),
                "who": ("organization/shop/dev", False),
            }
    with table.method("Stack.history"):
        entries = stack.history()
        assert [entry.kind for entry in entries] == ["refresh", "update", "update", "update"]
        assert [entry.version for entry in entries] == [4, 3, 2, 1]
        newest = entries[0]
        assert isinstance(newest.start_time, datetime)
        assert newest.end_time is not None
        assert newest.start_time <= newest.end_time
        assert stack.history(show_secrets=False)[0].config["shop:key"].value == "[secret]"
        assert stack.history(page_size=1, page=4, show_secrets=True)[0].config["shop:key"].value == "-k3y"
        assert entries[-1].environment["exec.kind"] == "auto.inline"
    with table.method("Stack.info"):
        latest = stack.info()
        assert latest is not None
        assert latest.version == 4
        assert auto.select_stack("other", "shop", nothing).info() is None
    with table.method(
        "Stack.export_stack", "Stack.import_stack", "LocalWorkspace.export_stack", "LocalWorkspace.import_stack"
    ):
        exported = stack.export_stack()
        assert exported.version == 3
        names = [resource["urn"].rpartition("::")[2] for resource in exported.deployment["resources"]]
        assert names == ["shop-dev", "a"]
        stack.import_stack(exported)
        stack.workspace.import_stack("dev", exported)
        again = stack.workspace.export_stack("dev").deployment["resources"]
        assert [resource["urn"] for resource in again] == [
            resource["urn"] for resource in exported.deployment["resources"]
        ]
    workspace = stack.workspace
    with table.method("LocalWorkspace.list_stacks", "LocalWorkspace.stack"):
        listed = {found.name: found for found in workspace.list_stacks()}
        assert set(listed) == {"dev", "spare", "other"}
        assert listed["dev"].resource_count == 2
        assert isinstance(listed["dev"].last_update, datetime)
        assert not listed["dev"].update_in_progress
        workspace.select_stack("dev")
        current = workspace.stack()
        assert current is not None
        assert current.name == "dev"
        assert len(workspace.list_stacks(include_all=True)) >= 3
    with table.method("LocalWorkspace.who_am_i"):
        who = workspace.who_am_i()
        assert who.user
        assert str(who.url).startswith("file://")
    with table.refusal("LocalWorkspace.org_get_default", "do not support organizations"):
        workspace.org_get_default()
    with table.refusal("LocalWorkspace.org_set_default", "do not support organizations"):
        workspace.org_set_default("acme")
    with table.method("Stack.cancel", note="of a stack that nobody has locked, too"):
        stack.cancel()


def errors(table: Table) -> None:
    def broken() -> None:
        raise ValueError("out of luck")

    with table.method("errors.InlineSourceRuntimeError"):
        stack = auto.create_stack("broken", "shop", broken)
        with raises(auto.InlineSourceRuntimeError):
            stack.up()
        with raises(auto.InlineSourceRuntimeError):
            stack.preview()
    with table.method("errors.ConcurrentUpdateError"):
        begun, finish = threading.Event(), threading.Event()

        def waits() -> None:
            begun.set()
            finish.wait(120)

        busy = auto.create_stack("busy", "shop", waits)
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(busy.up)
            try:
                assert begun.wait(120)
                with raises(auto.ConcurrentUpdateError):
                    auto.select_stack("busy", "shop", nothing).up()
            finally:
                finish.set()
            assert first.result().summary.result == "succeeded"
    with table.method("several stacks at once", note="from one process, each with its own program"):

        def make(name: str) -> object:
            def program() -> None:
                Group(name)
                pulumi.export("who", pulumi.get_stack() + name)

            return auto.create_stack(name, "many", program).up().outputs["who"].value

        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(make, ["x", "y", "z"])) == ["xx", "yy", "zz"]


def local_programs(table: Table, folder: Path) -> None:
    work = folder / "local"
    work.mkdir()
    (work / "Pulumi.yaml").write_text("name: local\nruntime: python\n")
    program = work / "__main__.py"
    program.write_text("import pulumi\npulumi.export('x', 'y')\n")
    with table.method("local program", note="a folder with Pulumi.yaml"):
        stack = auto.create_or_select_stack("dev", work_dir=str(work))
        assert stack.up().outputs["x"].value == "y"
    workspace = stack.workspace
    with table.method("errors.RuntimeError"):
        program.write_text("raise ValueError('out of luck')\n")
        with raises(auto.RuntimeError):
            stack.up()
    with table.method("LocalWorkspace.project_settings", "LocalWorkspace.save_project_settings"):
        settings = workspace.project_settings()
        assert (settings.name, settings.runtime) == ("local", "python")
        settings.description = "by hand"
        workspace.save_project_settings(settings)
        assert workspace.project_settings().description == "by hand"
    with table.method("LocalWorkspace.stack_settings", "LocalWorkspace.save_stack_settings"):
        stack.set_config("size", auto.ConfigValue("1"))
        kept = workspace.stack_settings("dev")
        assert kept.config == {"local:size": "1"}
        kept.config["local:more"] = "2"
        workspace.save_stack_settings("dev", kept)
        assert stack.get_config("more").value == "2"
    plugins(table, workspace)
    with table.method("LocalWorkspace.install", note="tried without dependencies"):
        workspace.install(no_dependencies=True)
    with table.method("Stack.destroy"):
        program.write_text("")
        destroyed = stack.destroy()
        assert (destroyed.summary.kind, destroyed.summary.result) == ("destroy", "succeeded")
        assert stack.export_stack().deployment.get("resources", []) == []
    with table.method("LocalWorkspace.remove_stack"):
        workspace.remove_stack("dev")
        assert workspace.list_stacks() == []
    with table.method("LocalWorkspace.new"):
        made = folder / "made"
        made.mkdir()
        auto.LocalWorkspace(work_dir=str(made)).new("python", name="made", generate_only=True)
        assert (made / "Pulumi.yaml").is_file()


@contextmanager
def plugin_server() -> Iterator[str]:
    """Serves the archive of a plugin `acme` 1.2.3; gives the address."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        program = b"#!/bin/sh\n"
        member = tarfile.TarInfo("pulumi-resource-acme")
        member.size, member.mode = len(program), 0o755
        archive.addfile(member, io.BytesIO(program))

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.rpartition("/")[2].startswith("pulumi-resource-acme-v1.2.3-")
            self.send_response(200 if found else 404)
            self.end_headers()
            if found:
                self.wfile.write(packed.getvalue())

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def plugins(table: Table, workspace: auto.LocalWorkspace) -> None:
    def installed() -> list[tuple[str, str | None]]:
        return [(found.name, found.version) for found in workspace.list_plugins()]

    with plugin_server() as address:
        with table.method("LocalWorkspace.install_plugin_from_server", "LocalWorkspace.list_plugins"):
            assert installed() == []
            workspace.install_plugin_from_server("acme", "v1.2.3", address)
            assert installed() == [("acme", "1.2.3")]
        with table.method("LocalWorkspace.remove_plugin"):
            workspace.remove_plugin("acme", ">=1.0.0")
            assert installed() == []
        with table.method("LocalWorkspace.install_plugin"):
            workspace.env_vars["PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"] = f"acme={address}"
            workspace.install_plugin("acme", "v1.2.3")
            assert installed() == [("acme", "1.2.3")]
            workspace.remove_plugin()


def the_end(table: Table, stack: auto.Stack, program: Program) -> None:
    with table.method("Stack.rename"):
        stack.workspace.remove_stack("spare")
        renamed = stack.rename("live")
        assert renamed.summary is not None
        assert (renamed.summary.kind, renamed.summary.result) == ("rename", "succeeded")
        stack = auto.select_stack("live", "shop", program)
        assert stack.outputs()["size"].value == "21"
    with table.method("Stack.import_resources", note="tried with a component"):
        imported = stack.import_resources(
            resources=[{"type": "test:index:Group", "name": "c", "component": True}],
            protect=False,
            generate_code=False,
        )
        assert imported.summary.result == "succeeded"
    with table.method("Stack.destroy, inline"):
        assert stack.destroy(remove=True).summary.result == "succeeded"


def main(folder: Path, *parts: str) -> int:
    table = Table()
    if not parts or "life" in parts:
        stack = lives(table)
    if not parts or "errors" in parts:
        errors(table)
    if not parts or "local" in parts:
        local_programs(table, folder)
    if not parts or "life" in parts:
        the_end(table, stack, Program())
    if parts:
        return 1 if table.failed else 0
    called = {name.removeprefix("LocalWorkspace.").removeprefix("Stack.") for name in table.seen}
    for owner in (auto.LocalWorkspace, auto.Stack):
        for name, member in inspect.getmembers(owner):
            full = f"{owner.__name__}.{name}"
            if callable(member) and not name.startswith("_") and name not in HOOKS and full not in table.seen:
                table.row(full, "fails", f"is not called{' there' if name in called else ''}")
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
