#!/usr/bin/env python3
"""Drives a command line through the cases, each in a throw-away project, and records or compares what was seen.

    run.py record|check [--cli pulumi] [--lang python,nodejs] [--node-modules DIR] [--keep] [CASE ...]
    run.py check --must-pass all|python|nodejs ...   the cases of pass.txt, or those of a language

Real plugins (random, command) are looked for in $REAL_PLUGINS and on $PATH; --must-pass leaves out what lacks them. The
rest needs Python with `pulumi` and `grpcio` only.
What a case's member `departs` names is not compared, and has to differ: nothing is excepted that need not be.
"""

import argparse
import difflib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from seen import compared, quiet, serves, start_of, strip, subject, summary, tidy

HERE = Path(__file__).resolve().parent
PLUGINS = HERE / "plugins"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def command_of(name, arguments=""):
    """What really runs for a plugin of the cases."""
    python, extra = sys.executable, arguments.split()
    local = PLUGINS / f"{name}.py"
    if local.exists():
        return [python, str(local), *extra]
    folder = PLUGINS / name
    if (folder / "__main__.py").exists():
        return [python, str(folder), *extra]
    if (folder / "index.js").exists():
        return ["node", str(folder / "index.js"), *extra]
    if name.startswith("probe"):
        return [python, str(PLUGINS / "probe.py"), "--name", name, *extra]
    return [real(name) or f"pulumi-resource-{name}", *extra]


def real(name):
    """A plugin that is not ours, in $REAL_PLUGINS or on $PATH."""
    return shutil.which(f"pulumi-resource-{name}", path=f"{os.environ.get('REAL_PLUGINS', '')}:{os.environ['PATH']}")


def lacks(case, language, node_modules):
    """What a case needs that is not ours, and is not there: plugins, and their SDKs."""
    names = json.loads((case / "case.json").read_text()).get("plugins", {})
    foreign = [name for name in names if command_of(name)[0].endswith(f"pulumi-resource-{name}")]
    missing = [f"pulumi-resource-{name}" for name in foreign if not real(name)]
    for name in foreign:
        if language == "nodejs":
            there = node_modules and (Path(node_modules) / "@pulumi" / name).exists()
        else:
            look = f"import importlib.util as u; raise SystemExit(not u.find_spec('pulumi_{name}'))"
            there = not subprocess.run(["python3", "-c", look]).returncode
        missing += [] if there else [f"the SDK of {name}"]
    return missing


class Run:
    def __init__(self, options, case, language):
        self.options, self.case, self.language = options, case, language
        self.spec = json.loads((case / "case.json").read_text())
        self.root = Path(tempfile.mkdtemp(prefix=f"{case.name}-"))
        self.names, self.ids = {}, {}
        for folder in ("project", "state", "home", "world", "bin"):
            (self.root / folder).mkdir()
        self.project = self.root / "project"
        self.log = self.root / "tap.log"
        self.noted = self.root / "noted"
        os.mkfifo(self.noted)
        self.env = {
            **os.environ,
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.root}/state",
            "PULUMI_CONFIG_PASSPHRASE": "x",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # Plugins start slowly beside many others.
            "MALOKO_PLUGIN_START_SECONDS": "240",
            # The keys of new stacks take no time. A release does not know of it.
            "MALOKO_CHEAP_KEYS": "1",
            "NO_COLOR": "1",
            "PULUMI_NODEJS_TRANSPILE_ONLY": "true",
            "PROBE_WORLD": str(self.root / "world"),
            "TAP_LOG": str(self.log),
            "TAP_NOTED": str(self.noted),
            "PATH": f"{self.root}/bin:{os.environ['PATH']}",
        }
        self.env.pop("TAP_REAL", None)

    def plugin(self, folder, name, arguments=""):
        """Puts a tapped plugin into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        real = json.dumps({name: command_of(name, arguments)})
        script = folder / f"pulumi-resource-{name}"
        script.write_text(
            f"#!/bin/sh\nexport NODE_PATH='{self.options.node_modules}'\n"
            f"TAP_REAL='{real}' exec '{sys.executable}' '{PLUGINS}/tap.py' {name} \"$@\"\n"
        )
        script.chmod(0o755)

    def prepare(self):
        runtime = self.language
        settings = {"name": "cases", "runtime": runtime, **self.spec.get("project", {})}
        (self.project / "Pulumi.yaml").write_text(json.dumps(settings))
        if self.language == "python":
            shutil.copy(self.case / "__main__.py", self.project)
            shutil.copy(HERE / "lib/lib.py", self.project)
        else:
            shutil.copy(self.case / "index.ts", self.project)
            shutil.copy(HERE / "lib/lib.ts", self.project)
            (self.project / "package.json").write_text(
                json.dumps({"name": "cases", "main": "index.ts", "dependencies": {"@pulumi/pulumi": "*"}})
            )
            strict = {"target": "es2020", "module": "commonjs", "moduleResolution": "node", "strict": False}
            (self.project / "tsconfig.json").write_text(json.dumps({"compilerOptions": strict}))
            (self.project / "node_modules").symlink_to(self.options.node_modules)
        for name, arguments in self.spec.get("plugins", {}).items():
            self.plugin(self.root / "bin", name, arguments)
        for name, versions in self.spec.get("installed", {}).items():
            for version in versions:
                self.plugin(self.root / "home/plugins" / f"resource-{name}-v{version}", name, f"--version {version}")
        self.cli("stack", "init", "dev", check=True)

    def cli(self, *arguments, check=False, env=None, interrupt=None):
        process = subprocess.Popen(
            [self.options.cli, *arguments],
            cwd=self.project,
            env={**self.env, **(env or {})},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        if interrupt is not None:
            if not self.awaits(interrupt, process):
                process.kill()
                output, _ = process.communicate(timeout=300)
                raise RuntimeError(f"{arguments}: nothing to interrupt, '{interrupt}' was never called: {output}")
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=300)
        if check and process.returncode:
            raise RuntimeError(f"{arguments}: {output}")
        return process.returncode, output

    def awaits(self, text, process):
        """Waits until Create is called with this, or the process ends: the tap tells each call through a pipe."""
        # It has a writer here as well, so that reading from it never ends.
        pipe = os.open(self.noted, os.O_RDWR)

        def tell_end():
            process.wait()
            os.write(pipe, b".")

        threading.Thread(target=tell_end, daemon=True).start()
        while not self.creates(text):
            if process.poll() is not None or not select.select([pipe], [], [], 240)[0]:
                return False
            os.read(pipe, 65536)
        return True

    def creates(self, text):
        """Has Create been called with this? What is checked before has it, too."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return any(text in line and '"rpc": "Create"' in line for line in lines)

    def step(self, step):
        for key, value in step.get("config", {}).items():
            if value is None:
                self.cli("config", "rm", key, check=True)
            else:
                secret = isinstance(value, dict)
                kind = ["--secret"] if secret else ["--plaintext"]
                self.cli("config", "set", key, *kind, "--", value["secret"] if secret else value, check=True)
        for name, value in step.get("world", {}).items():
            path = self.root / "world" / f"{name}.json"
            if value is None:
                path.unlink(missing_ok=True)
            elif isinstance(value, str):
                shutil.copy(path, self.root / "world" / f"{value}.json")
            else:
                old = json.loads(path.read_text()) if path.exists() else {}
                path.write_text(json.dumps({**old, **value}))
        for name, arguments in step.get("plugins", {}).items():
            (self.root / "bin" / f"pulumi-resource-{name}").unlink(missing_ok=True)
            if arguments is not None:
                self.plugin(self.root / "bin", name, arguments)
        self.log.unlink(missing_ok=True)
        op = step["op"].split()
        arguments = [*op, *step.get("args", [])]
        if op[0] in ("up", "destroy", "refresh"):
            arguments += ["--yes", "--skip-preview"]
        if op[0] in ("up", "destroy", "refresh", "preview"):
            arguments += ["--parallel", "1"]
        env = {"STAGE": str(step.get("stage", "1")), **step.get("env", {})}
        code, output = self.cli(*arguments, env=env, interrupt=step.get("interrupt"))
        state = None
        if op[0] not in ("preview",):
            _, text = self.cli("stack", "export", "--show-secrets")
            state = json.loads(text)
        self.learn(state)
        seen = {"op": step["op"], "exit": code, "summary": summary(output), "says": self.says(output)}
        seen["calls"] = self.calls()
        seen["changes"] = self.changes()
        if state is not None:
            deployment = state["deployment"]
            resources = self.clean([strip(resource) for resource in deployment.get("resources", [])])
            seen["state"] = sorted(resources, key=lambda resource: (resource["urn"], resource.get("delete", False)))
            if deployment.get("pending_operations"):
                seen["pending"] = self.clean(
                    [
                        {"type": entry["type"], "urn": entry["resource"]["urn"]}
                        for entry in deployment["pending_operations"]
                    ]
                )
        seen["world"] = self.clean(
            {path.stem: json.loads(path.read_text()) for path in sorted((self.root / "world").glob("*.json"))}
        )
        self.output = output
        return seen

    def learn(self, state):
        """Texts that are random get a name: that of the resource and of the property."""
        resources = (state or {}).get("deployment", {}).get("resources", [])
        for resource in resources:
            name = resource["urn"].rsplit("::", 1)[-1]
            if UUID.fullmatch(resource.get("id", "")) and resource["id"] not in self.names:
                self.ids[name] = self.ids.get(name, 0) + 1
                again = f" #{self.ids[name]}" if self.ids[name] > 1 else ""
                self.names[resource["id"]] = f"<id of {name}{again}>"
            if resource["type"].startswith("random:"):
                for key in ("id", "result", "bcryptHash", "hex", "b64Std", "b64Url", "dec"):
                    value = resource["id"] if key == "id" else resource.get("outputs", {}).get(key)
                    if isinstance(value, dict):
                        value = json.loads(value["plaintext"])
                    if isinstance(value, str) and len(value) > 5:
                        self.names.setdefault(value, f"<{key} of {name}>")
            if resource["type"].startswith("command:") and resource.get("id"):
                self.names.setdefault(resource["id"], f"<id of {name}>")

    def clean(self, value):
        text = json.dumps(value, sort_keys=True)
        for random, name in sorted(self.names.items(), key=lambda item: -len(item[0])):
            quoted = json.dumps(random)[1:-1]
            text = text.replace(json.dumps(quoted)[1:-1], name).replace(quoted, name)
        text = text.replace(UNKNOWN, "<unknown>")
        text = UUID.sub("<uuid>", text)
        text = text.replace("pulumi-python", "pulumi-LANG").replace("pulumi-nodejs", "pulumi-LANG")
        text = text.replace(str(self.root), "<root>")
        text = text.replace(str(HERE), "<cases>")
        return json.loads(text)

    def calls(self):
        """Per start of a plugin: its calls in the order in which they came, with what was answered."""
        starts, order = {}, []
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        for line in map(json.loads, lines):
            pid = line["pid"]
            if pid not in starts:
                starts[pid] = {"plugin": line["plugin"], "calls": [], "byNumber": {}}
                order.append(pid)
            start = starts[pid]
            if line["at"] == "done" and line["rpc"] == "Create" and line["plugin"] == "command":
                name = start_of(starts[pid], line["n"])["request"]["name"]
                self.names.setdefault(line["response"].get("id", "none"), f"<id of {name}>")
            if line["at"] == "call":
                call = {"rpc": line["rpc"], "request": quiet(line["request"])}
                start["calls"].append(call)
                start["byNumber"][line["n"]] = call
            elif line["at"] == "done" and line["rpc"] in ("Construct", "Call", "Invoke"):
                start["byNumber"][line["n"]]["response"] = quiet(line["response"])
            elif line["at"] == "error":
                error = {key: line[key] for key in ("code", "message", "details") if line.get(key)}
                # A plugin that dies takes the answers with it, or not.
                if line["code"] != "UNAVAILABLE":
                    start["byNumber"][line["n"]]["error"] = error
            elif line["at"] == "ended":
                start["ended"] = line["code"]
        return self.clean(
            [
                {
                    "plugin": starts[pid]["plugin"],
                    "calls": sorted(starts[pid]["calls"], key=subject),
                    # 3 is how probe dies on purpose; others tell only how it was stopped.
                    **({"ended": 3} if starts[pid].get("ended") == 3 else {}),
                }
                for pid in sorted(order, key=lambda pid: (starts[pid]["plugin"], serves(starts[pid])))
            ]
        )

    def changes(self):
        """What was made, changed and removed, in the order of time; the programs of the cases leave no choice of it."""
        lines = map(json.loads, self.log.read_text().splitlines() if self.log.exists() else [])
        return self.clean(
            [
                f"{line['rpc']} {line['request']['urn'].split('::', 2)[-1]}"
                for line in lines
                if line["at"] == "call"
                and line["rpc"] in ("Create", "Update", "Delete")
                and not line["request"].get("preview")
            ]
        )

    def says(self, output):
        lines, seen = [], set()
        diagnostics = output[output.find("Diagnostics:") :] if "Diagnostics:" in output else output
        for line in diagnostics.splitlines():
            text = line.strip()
            passed_over = "from $PATH" in text or "exited prematurely" in text
            if passed_over or not re.match(r"(error|warning|info)\b", text):
                continue
            text = re.sub(r"Duration: .*|\d+\.\d+s|127\.0\.0\.1:\d+", "<x>", text)
            text = re.sub(r"Stream removed.*|error reading from server: EOF", "<the connection was lost>", text)
            ends = ("failed to register new resource", "unhandled exception", "Undefined value")
            if any(end in text for end in ends):
                continue
            if text not in seen:
                seen.add(text)
                lines.append(text)
        return sorted(self.clean(lines))


def run(options, case, language):
    it = Run(options, case, language)
    seen = []
    try:
        it.prepare()
        for number, step in enumerate(it.spec["steps"]):
            got = it.step(step)
            seen.append(got)
            failed = got["exit"] != 0
            if failed != bool(step.get("fails")):
                where = f"{case.name} [{language}] step {number} {step['op']}"
                print(f"{where}: exit {got['exit']}\n{it.output}", file=sys.stderr)
            words = options.words or options.what == "record"
            for text in step.get("says", []) if words else []:
                if text not in it.output:
                    print(f"{case.name} [{language}] step {number}: not said: {text}\n{it.output}", file=sys.stderr)
            if options.verbose:
                print(it.output)
    finally:
        if options.keep:
            print(it.root)
        else:
            shutil.rmtree(it.root, ignore_errors=True)
    return seen


def must_pass(share):
    """The cases of pass.txt, or those of a language."""
    lines = [line.partition("#")[0].split() for line in (HERE / "pass.txt").read_text().splitlines()]
    return [HERE / line[0] for line in lines if line and share in ("all", line[1])]


def check(case, language, got, words):
    """What differs from what was recorded."""
    spec = json.loads((case / "case.json").read_text())
    wanted = json.loads((case / "expected.json").read_text())
    recorded = wanted.get("both", wanted.get(language))
    a = tidy(compared(recorded, spec, words)).splitlines()
    b = tidy(compared(got, spec, words)).splitlines()
    found = list(difflib.unified_diff(a, b, "expected", "seen", lineterm="", n=4))
    for part in spec.get("departs", {}):
        if [step.get(part) for step in recorded] == [step.get(part) for step in got]:
            found.append(f"case.json excepts '{part}', which is as recorded")
    return found


def record(case, seen, languages):
    expected = case / "expected.json"
    values = list(seen.values())
    result = {"both": values[0]} if len(values) == 2 and values[0] == values[1] else seen
    if len(seen) < 2 and expected.exists() and len(languages) < 2:
        print("recorded for one language only: nothing written")
        return
    expected.write_text(tidy(result) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "check"])
    parser.add_argument("--cli", default="pulumi")
    parser.add_argument("--lang", default="python,nodejs")
    parser.add_argument("--node-modules", default=os.environ.get("NODE_MODULES", ""))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--words", action="store_true", help="check: compare the reference's words and counts too")
    parser.add_argument("--must-pass", choices=["all", "python", "nodejs"], help="the cases of pass.txt")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    if options.node_modules:
        options.node_modules = str(Path(options.node_modules).resolve())
    named = must_pass(options.must_pass) if options.must_pass else [HERE / Path(name).name for name in options.cases]
    languages = options.lang.split(",")
    passed = failed = 0
    for case in named or sorted(HERE.glob("[0-9]*")):
        began, seen = time.time(), {}
        for language in languages:
            missing = lacks(case, language, options.node_modules) if options.must_pass else []
            if missing:
                print(f"{case.name} [{language}]: left out, for there is no {', no '.join(missing)}", flush=True)
                continue
            if (case / ("__main__.py" if language == "python" else "index.ts")).exists():
                seen[language] = run(options, case, language)
        if options.what == "record":
            record(case, seen, languages)
            print(f"{case.name}: {', '.join(seen)} ({time.time() - began:.0f} s)")
            continue
        for language, got in seen.items():
            difference = check(case, language, got, options.words)
            failed, passed = failed + bool(difference), passed + (not difference)
            result = "differs" if difference else "as recorded"
            print(f"{case.name} [{language}]: {result} ({time.time() - began:.0f} s)", flush=True)
            print("\n".join(difference[:80]), end="\n" if difference else "")
    if options.what == "check":
        print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
