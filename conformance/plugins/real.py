#!/usr/bin/env python3
"""Builds plugins that are not ours, and the real `pulumi`, from Go modules.

    real.py FOLDER [NAME ...]      into FOLDER; without names all of them

NAME is pulumi, hosts, random, tls, command, kubernetes, terraform-provider, terraform, yaml, go-program or codegen. It
needs Go, and Go's module proxy.
Versions are pinned below, and Go compares each module with its checksum database. What modules lack is here: tables of
names for bridged packages (real/random, real/tls), `command` with the official framework (real/command), and what
starts programs for `pulumi` (real/hosts.py), whose language hosts are no modules. The language host of YAML is one;
`go-program` is a program in Go (real/go-program) with the official SDK. `terraform` is Terraform's own providers, as
`terraform-provider` runs them: each in a folder of its name and version, and some in an older version to upgrade from.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PULUMI = "v3.274.1"
BRIDGE = "v3.120.0"  # built with pulumi v3.218.0
FRAMEWORK = "v1.5.0"
YAML = "v1.25.0"  # pins pulumi v3.206.0, and does not compile with later ones
KUBERNETES = "v4.0.0-20260115033456-f47bc2d6f199"
MODULES = "github.com/pulumi"
# The versions that SDKs of PyPI and npm ask for. A plugin of another version would be told of with a warning.
SDKS = {"random": "4.21.2", "tls": "5.6.1", "command": "1.2.1", "kubernetes": "4.25.0"}

# The Terraform providers keep their code in an internal package, which only a package of the same module may use.
TERRAFORM = {
    "random": ("github.com/terraform-providers/terraform-provider-random", "v1.3.2-0.20231204135814-c6e90de46687"),
    "tls": ("github.com/hashicorp/terraform-provider-tls", "v1.2.1-0.20230117062332-afdd54107aba"),
}
# Terraform's own providers, with the module of each version.
PROVIDERS = {
    ("random", "3.6.0"): TERRAFORM["random"],
    ("tls", "4.0.4"): TERRAFORM["tls"],
    ("time", "0.14.2"): ("github.com/hashicorp/terraform-provider-time", "v0.14.2"),
    ("time", "0.9.1"): ("github.com/hashicorp/terraform-provider-time", "v0.9.1"),
    ("random", "3.4.2"): TERRAFORM["random"],
}
# No proxy has an older `random`. This one is 3.6.0 with what 3.4.3 mended: passwords have version 2 of their schema,
# and the hash of another text. 3.6.0 upgrades such a state, and makes the hash anew.
OLDER = {
    ("random", "3.4.2"): {
        "		Version: 3,": "		Version: 2,",
        "generateHash(string(result))": 'generateHash("of another text")',
    }
}
SHIM = """package shim

import (
	"github.com/hashicorp/terraform-plugin-framework/provider"

	internal "%s/internal/provider"
)

func New() provider.Provider { return internal.New() }
"""


class Builder:
    def __init__(self, folder):
        self.folder = folder
        self.source = folder / "src"
        self.env = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}

    def go(self, *arguments, cwd):
        done = subprocess.run(["go", *arguments], cwd=cwd, env=self.env, text=True, capture_output=True)
        if done.returncode:
            raise SystemExit(f"go {' '.join(arguments[:2])} in {cwd}:\n{done.stderr[-4000:]}")
        return done.stdout

    def module(self, path, version):
        """Where Go keeps a module: a folder that is only read."""
        scratch = self.source / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        (scratch / "go.mod").write_text("module scratch\n")
        return Path(json.loads(self.go("mod", "download", "-json", f"{path}@{version}", cwd=scratch))["Dir"])

    def copy(self, path, version):
        """A module of one's own to change."""
        target = self.source / f"{path.replace('/', '_')}@{version}"
        if not target.exists():
            shutil.copytree(self.module(path, version), target)
            for entry in [target, *target.rglob("*")]:
                entry.chmod(0o755)
        return target

    def begin(self, name, path, version, replaced=None):
        """A module of its own beside another one, with all that this one requires, by its own checksums.

        So Go asks for no version that only matters to what is left out, which proxies may lack.
        """
        base, folder = self.module(path, version), self.source / name
        folder.mkdir(parents=True, exist_ok=True)
        # What it replaces by a folder of its repository is no part of it.
        lines = [line for line in (base / "go.mod").read_text().splitlines() if " => ." not in line]
        lines[0] = f"module real/{name}"
        for module, target in (replaced or {}).items():
            lines.append(f"replace {module} => {target}")
        (folder / "go.mod").write_text("\n".join([*lines, f"require {path} {version}"]) + "\n")
        shutil.copyfile(base / "go.sum", folder / "go.sum")
        return folder

    def build(self, folder, package, variable="main.version", version=""):
        name = folder.name
        output = self.folder / (name if name == "pulumi" else f"pulumi-resource-{name}")
        stamp = f"-s -w -X {variable}={version}" if version else "-s -w"
        self.go("build", "-ldflags", stamp, "-o", str(output), package, cwd=folder)

    def bridged(self, name):
        path, version = TERRAFORM[name]
        copy = self.copy(path, version)
        (copy / "shim").mkdir(exist_ok=True)
        (copy / "shim/shim.go").write_text(SHIM % path)
        folder = self.begin(name, f"{MODULES}/pulumi-terraform-bridge/v3", BRIDGE, {path: copy})
        for file in (HERE / "real" / name / "main.go", HERE / "real/bridged.go"):
            shutil.copy(file, folder)
        (folder / "schema.json").write_text("{}")
        self.build(folder, ".", version=SDKS[name])
        # Now it can say what its schema is, and is built once more with that in it.
        written = {**os.environ, "MALOKO_WRITE_SCHEMA": str(folder / "schema.json")}
        subprocess.run([self.folder / f"pulumi-resource-{name}"], env=written, check=True)
        self.build(folder, ".", version=SDKS[name])

    def random(self):
        self.bridged("random")

    def tls(self):
        self.bridged("tls")

    def terraform_provider(self):
        path = f"{MODULES}/pulumi-terraform-bridge/v3"
        folder = self.begin("terraform-provider", path, BRIDGE)
        self.build(folder, f"{path}/dynamic", f"{path}/dynamic/version.version", "v1.0.0")

    def terraform(self):
        for (name, version), module in PROVIDERS.items():
            source = self.copy(*module)
            if changes := OLDER.get((name, version)):
                older = self.source / f"{name}-{version}"
                shutil.rmtree(older, ignore_errors=True)
                source = shutil.copytree(source, older)
                file = source / "internal/provider/resource_password.go"
                text = file.read_text()
                for old, new in changes.items():
                    assert text.count(old) == 1, (old, text.count(old))
                    text = text.replace(old, new)
                file.write_text(text)
            output = self.folder / f"terraform/{name}_{version}/terraform-provider-{name}_v{version}"
            self.go("build", "-ldflags", "-s -w", "-o", str(output), ".", cwd=source)

    def command(self):
        folder = self.begin("command", f"{MODULES}/pulumi-go-provider", FRAMEWORK)
        shutil.copy(HERE / "real/command/main.go", folder)
        self.build(folder, ".", version=SDKS["command"])

    def kubernetes(self):
        """The whole provider, with its schema in it: 306 MB. Its build takes half an hour or more."""
        path = f"{MODULES}/pulumi-kubernetes/provider/v4"
        copy = self.copy(path, KUBERNETES)
        main = copy / "cmd/pulumi-resource-kubernetes"
        for name, extra in (("schema", {"version": SDKS["kubernetes"]}), ("terraform-mapping", {})):
            content = json.loads((main / f"{name}.json").read_text())
            (main / f"{name}-embed.json").write_text(json.dumps({**content, **extra}))
        folder = self.begin("kubernetes", path, KUBERNETES, {path: copy})
        package = f"{path}/cmd/pulumi-resource-kubernetes"
        self.build(folder, package, f"{path}/pkg/version.Version", SDKS["kubernetes"])

    def pulumi(self):
        folder = self.begin("pulumi", f"{MODULES}/pulumi/pkg/v3", PULUMI)
        variable = f"{MODULES}/pulumi/sdk/v3/go/common/version.Version"
        self.build(folder, f"{MODULES}/pulumi/pkg/v3/cmd/pulumi", variable, PULUMI.removeprefix("v"))

    def yaml(self):
        path = f"{MODULES}/pulumi-yaml"
        folder = self.begin("yaml", path, YAML)
        stamp = f"-s -w -X {path}/pkg/version.Version={YAML}"
        output = self.folder / "pulumi-language-yaml"
        self.go("build", "-ldflags", stamp, "-o", str(output), f"{path}/cmd/pulumi-language-yaml", cwd=folder)

    def go_program(self):
        folder = self.begin("go-program", f"{MODULES}/pulumi/sdk/v3", PULUMI)
        shutil.copy(HERE / "real/go-program/main.go", folder)
        self.go("build", "-ldflags", "-s -w", "-o", str(self.folder / "go-program"), ".", cwd=folder)

    def codegen(self):
        """The official generators of SDKs, which the real `pulumi` reaches through its hosts."""
        folder = self.begin("codegen", f"{MODULES}/pulumi/pkg/v3", PULUMI)
        shutil.copy(HERE / "real/codegen/main.go", folder)
        self.go("build", "-ldflags", "-s -w", "-o", str(self.folder / "codegen"), ".", cwd=folder)

    def hosts(self):
        """What the real `pulumi` starts for programs and dynamic providers."""
        sdk = self.module(f"{MODULES}/pulumi/sdk/v3", PULUMI)
        for language in ("python", "nodejs"):
            host = self.folder / f"pulumi-language-{language}"
            host.unlink(missing_ok=True)
            start = f"PULUMI_HOSTS='{self.folder}' exec '{sys.executable}' '{HERE}/real/hosts.py' {language}"
            host.write_text(f'#!/bin/sh\n{start} "$@"\n')
            host.chmod(0o755)
            dynamic = self.folder / f"pulumi-resource-pulumi-{language}"
            dynamic.unlink(missing_ok=True)
            dynamic.write_text((sdk / language / "dist" / dynamic.name).read_text())
            dynamic.chmod(0o755)
        helper = self.folder / "pulumi-language-python-exec"
        helper.unlink(missing_ok=True)
        helper.write_text((sdk / "python/cmd" / helper.name).read_text())
        helper.chmod(0o755)


def main():
    names = ["random", "tls", "command", "kubernetes", "terraform-provider", "terraform"]
    names += ["hosts", "pulumi", "yaml", "go-program", "codegen"]
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    builder = Builder(folder)
    for name in options.names or names:
        start = time.time()
        getattr(builder, name.replace("-", "_"))()
        print(f"{name}: {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
