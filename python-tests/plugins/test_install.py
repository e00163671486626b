"""Plugins that are installed, by commands and by runs, from a server on this machine."""

import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import Project, begin

from maloko import automation as auto

PROBE = Path(__file__).parents[2] / "conformance" / "plugins" / "plugins" / "probe.py"
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
SYSTEM = {"Darwin": "darwin"}.get(platform.system(), platform.system().lower())
UP = ("up", "--yes", "--skip-preview")
DESTROY = ("destroy", "--yes", "--skip-preview")

PROGRAM = """
import os
import pulumi

class Thing(pulumi.CustomResource):
    def __init__(self, name):
        opts = pulumi.ResourceOptions(version="1.0.0", plugin_download_url=os.environ["SERVER"])
        super().__init__("probe:index:Thing", name, {"size": 1}, opts)

Thing("thing")
"""


class Store:
    """A project whose plugin is at a server, and nowhere else."""

    def __init__(self, project: Project, address: str, archive: Path) -> None:
        self.project = project
        self.address = address
        self.archive = archive
        self.checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
        self.installed = project.directory / "home" / ".pulumi" / "plugins" / "resource-probe-v1.0.0"
        self.world = project.directory / "world"
        self.world.mkdir()
        project.write("__main__.py", PROGRAM)
        project.environment |= {"SERVER": address, "PROBE_WORLD": str(self.world)}
        del project.environment["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"]

    def objects(self) -> list[str]:
        return sorted(path.stem for path in self.world.iterdir())

    def listed(self, *arguments: str) -> list[dict[str, object]]:
        return list(json.loads(self.project.run("plugin", "ls", "--json", *arguments).stdout))


def write_archive(file: Path, members: dict[str, str]) -> None:
    with tarfile.open(file, "w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.mode, member.size = 0o755, len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


@pytest.fixture
def store(project: Project) -> Iterator[Store]:
    served = project.directory / "served"
    served.mkdir()
    archive = served / f"pulumi-resource-probe-v1.0.0-{SYSTEM}-{ARCH}.tar.gz"
    write_archive(archive, {"pulumi-resource-probe": f'#!/bin/sh\nexec "{sys.executable}" "{PROBE}" "$@"\n'})
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", served],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().split(" port ")[1].split()[0]
        yield Store(project, f"http://127.0.0.1:{port}", archive)
    finally:
        server.kill()
        server.communicate()


def test_a_plugin_that_nobody_has_is_downloaded_at_its_first_need(store: Store) -> None:
    said = store.project.run(*UP).stdout
    assert "Downloading provider: probe 1.0.0" in said
    assert store.objects() == ["here-thing-1"]
    assert (store.installed / "pulumi-resource-probe").is_file()
    assert not Path(f"{store.installed}.partial").exists()
    assert Path(f"{store.installed}.lastused").is_file()

    assert "Downloading" not in store.project.run(*UP).stdout

    # A destroy has no program, but the state knows where the plugin came from.
    store.project.run("plugin", "rm", "--all", "--yes")
    assert "Downloading provider: probe 1.0.0" in store.project.run(*DESTROY).stdout
    assert store.objects() == []


def test_a_run_that_may_not_download_says_how_to_get_the_plugin(store: Store) -> None:
    said = store.project.failing(*UP, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true")
    assert "no resource plugin 'pulumi-resource-probe' found in the workspace at version v1.0.0" in said
    assert f"maloko plugin install resource probe 1.0.0 --server {store.address}" in said
    assert "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION is set" in said
    assert not store.installed.exists()

    store.project.run("plugin", "install", "resource", "probe", "1.0.0", "--server", store.address)
    store.project.run(*UP, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true")
    assert store.objects() == ["here-thing-1"]


def test_a_plugin_that_cannot_be_downloaded_is_an_error_with_its_address(store: Store) -> None:
    store.archive.unlink()
    said = store.project.failing(*UP)
    assert f"{store.address}/{store.archive.name} answered 404" in said
    assert "maloko plugin install resource probe 1.0.0" in said
    assert store.objects() == []
    # It is tried five times, and told of once.
    nowhere = ("plugin", "install", "resource", "probe", "1.0.0", "--server", "http://127.0.0.1:1")
    done = store.project.run(*nowhere, code=None)
    assert (done.stdout + done.stderr).count("Downloading provider") == 1


def test_plugins_are_installed_listed_and_removed(store: Store) -> None:
    project = store.project
    install = ("plugin", "install", "resource", "probe", "1.0.0", "--server", store.address)
    said = project.failing(*install, "--checksum", "0" * 64)
    assert store.checksum in said
    assert store.listed() == []

    assert "installed: resource probe-1.0.0" in project.run(*install, "--checksum", store.checksum).stdout
    assert "already installed: resource probe-1.0.0" in project.run(*install).stdout
    [listed] = store.listed()
    assert (listed["name"], listed["kind"], listed["version"]) == ("probe", "resource", "1.0.0")
    assert listed["size"] == (store.installed / "pulumi-resource-probe").stat().st_size
    assert "installTime" in listed
    assert "probe  resource  1.0.0" in project.run("plugin", "ls").stdout

    assert "no plugin in" in project.run("plugin", "rm", "resource", "probe", "2.0.0", "--yes").stderr
    assert "add --yes" in project.failing("plugin", "rm", "resource", "probe")
    said = project.run("plugin", "rm", "resource", "probe", ">=1.0.0 <2.0.0", "--yes").stdout
    assert "removed: resource probe-1.0.0" in said
    assert store.listed() == []


def test_an_archive_of_this_machine_needs_no_network(store: Store) -> None:
    store.project.run("plugin", "install", "resource", "probe", "1.0.0", "--file", str(store.archive))
    assert [listed["version"] for listed in store.listed()] == ["1.0.0"]


def test_an_archive_that_would_write_elsewhere_is_refused(store: Store) -> None:
    write_archive(store.archive, {"../../escaped": "#!/bin/sh\n"})
    said = store.project.failing("plugin", "install", "resource", "probe", "1.0.0", "--server", store.address)
    assert "a path outside of the plugin's folder: '../../escaped'" in said
    assert not (store.project.directory / "home" / ".pulumi" / "escaped").exists()
    assert store.listed() == []


def test_all_that_a_project_needs_is_installed(store: Store) -> None:
    project = store.project
    sdk = {"resource": True, "name": "probe", "version": "1.0.0", "server": store.address}
    project.write("sdks/pulumi_probe/pulumi-plugin.json", json.dumps(sdk))
    project.write("sdks/pulumi_probe/__init__.py", "")
    project.write("__main__.py", "import pulumi_probe\n")
    project.environment["PYTHONPATH"] = str(project.directory / "sdks")

    assert "the package 'probe 1.0.0' is used: no resource plugin" in project.failing("check")
    assert json.loads(project.run("about", "--json").stdout)["plugins"] == [
        {"name": "probe", "version": "1.0.0", "place": None}
    ]
    assert store.listed("--project") == [{"name": "probe", "kind": "resource", "version": "1.0.0"}]

    assert "installed: resource probe-1.0.0" in project.run("plugin", "install").stdout
    assert "already there: resource probe 1.0.0" in project.run("plugin", "install").stdout
    assert "the package 'probe 1.0.0' is served by" in project.run("check").stdout
    assert [listed["name"] for listed in store.listed("--project")] == ["probe"]
    assert str(store.installed) in project.run("about").stdout


def test_a_workspace_installs_lists_and_removes_plugins(store: Store) -> None:
    home = store.installed.parent.parent
    workspace = auto.LocalWorkspace(work_dir=str(store.project.directory), pulumi_home=str(home))
    workspace.install_plugin_from_server("probe", "v1.0.0", store.address)
    [listed] = workspace.list_plugins()
    assert (listed.name, listed.kind, listed.version) == ("probe", "resource", "1.0.0")
    assert store.installed.is_dir()
    # It is there, so nothing is asked.
    workspace.install_plugin("probe", "v1.0.0")
    workspace.remove_plugin("probe", "<2.0.0")
    assert workspace.list_plugins() == []


def test_a_plugin_that_is_a_program_is_installed_as_a_folder(store: Store) -> None:
    manifest = {"runtime": {"name": "python", "options": {"virtualenv": sys.prefix}}}
    modules = {"__main__.py": PROBE.read_text(), "messages.py": PROBE.with_name("messages.py").read_text()}
    write_archive(store.archive, {"PulumiPlugin.yaml": json.dumps(manifest), **modules})
    store.project.run(*UP)
    assert store.objects() == ["here-thing-1"]


@pytest.mark.nightly
def test_a_plugin_whose_packages_cannot_be_installed_is_none(store: Store) -> None:
    members = {"PulumiPlugin.yaml": "runtime: python", "__main__.py": "", "requirements.txt": "./is-not-there"}
    write_archive(store.archive, members)
    install = ("plugin", "install", "resource", "probe", "1.0.0", "--server", store.address)
    said = store.project.failing(*install, PIP_NO_INDEX="1")
    assert "probe 1.0.0 is not installed: the plugin needs `" in said
    assert "is-not-there" in said
    assert not store.installed.exists()
    assert store.listed() == []


def test_an_installation_that_is_killed_leaves_nothing_that_counts(store: Store) -> None:
    project = store.project
    good = store.archive.read_bytes()
    write_archive(store.archive, {"PulumiPlugin.yaml": "runtime: nodejs", "package.json": "{}"})
    # It ends with whoever has called it.
    project.write("bin/npm", "#!/bin/sh\nwhile kill -0 $PPID; do sleep 0.1; done\n").chmod(0o755)
    project.environment["PATH"] = f"{project.directory}/bin:{os.environ['PATH']}"
    install = ("plugin", "install", "resource", "probe", "1.0.0", "--server", store.address)
    with begin(project, *install) as running:
        assert any("Running `npm install`" in line for line in running.stdout or [])
        running.kill()
    assert Path(f"{store.installed}.partial").is_file()
    assert store.listed() == []

    store.archive.write_bytes(good)
    assert "installed: resource probe-1.0.0" in project.run(*install).stdout
    assert [file.name for file in store.installed.iterdir()] == ["pulumi-resource-probe"]
    assert not Path(f"{store.installed}.partial").exists()
    assert [listed["version"] for listed in store.listed()] == ["1.0.0"]
