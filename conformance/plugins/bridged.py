#!/usr/bin/env python3
"""Terraform's random, time and tls behind the real bridge: beside the real `pulumi`, killed, interrupted and upgraded.

    bridged.py FOLDER --cli maloko --lang python,nodejs --node-modules DIR [--part turns,killed,interrupted,upgraded]

FOLDER is what real.py made: pulumi, hosts, terraform-provider, terraform. The SDKs are made by `maloko package add`.
`pulumi` goes through the same as maloko, and what comes of both is compared: exit codes, what is pending, the states.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

from turns import Stack, arguments, changed, compare, full, resources_of, take_turns

TOOLS = ("pulumi", "maloko")
NEW = {"random": "3.6.0", "time": "0.14.2", "tls": "4.0.4"}
OLD = {**NEW, "random": "3.4.2", "time": "0.9.1"}
# The create that takes as long as $SLEEP says, and what is made before it ends.
SLOW = "time:index/sleep:Sleep::wait"
FIRST = {"begin", "first", "key", "later", "letters", "note", "number", "password", "pet", "turn"}
LONG = 100  # seconds that only a hang takes


class Bridged(Stack):
    program = "bridged"

    def __init__(self, options, language, versions=None):
        super().__init__(options, language)
        self.mark = uuid.uuid4().hex
        self.env |= {"PULUMI_DYNAMIC_TF_PLUGIN_CACHE_DIR": str(options.cache), "BRIDGED_MARK": self.mark}
        self.add(versions or NEW)

    def add(self, versions):
        """Makes the SDKs, in place of those that are there."""
        for name, version in versions.items():
            self.run("maloko", "package", "add", "--no-link", "terraform-provider", f"hashicorp/{name}", version)
            if self.language == "nodejs":
                link = self.project / "node_modules/@pulumi" / name
                link.unlink(missing_ok=True)
                link.symlink_to(self.project / "sdks" / name)
        sdks = [str(self.project / "sdks" / name) for name in versions]
        self.env["PYTHONPATH"] = ":".join([*sdks, os.environ.get("PYTHONPATH", "")])

    def said(self, tool, *words, stage=1, fails=False, **env):
        """What a command says; it may have to fail."""
        command = "pulumi" if tool == "pulumi" else self.options.cli
        env = {**self.env, "STAGE": str(stage), **env}
        words = [command, *words, "--stack", "dev"]
        done = subprocess.run(
            words, cwd=self.project, env=env, text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=600
        )
        text = done.stdout + done.stderr
        if self.options.verbose:
            print(f"$ {' '.join(words)} -> {done.returncode}\n{text}", flush=True)
        if bool(done.returncode) != fails:
            raise SystemExit(
                f"{self.language}: {' '.join(words)} ended with {done.returncode}; see {self.root}\n{text}"
            )
        return text

    def up(self, tool, **more):
        return self.said(tool, "up", "--yes", "--skip-preview", **more)

    def state(self, tool):
        """The resource states, and what is pending, as this tool sees them."""
        state = self.exported(tool)
        listed = state.get("pending_operations") or []
        pending = [f"{one['type']} {one['resource']['urn'].split('::', 2)[2]}" for one in listed]
        return resources_of(state), sorted(pending)

    def left(self, seconds=10):
        """Processes of this stack that still run after that time, by their ids."""
        until = time.monotonic() + seconds
        while (found := marked(self.mark)) and time.monotonic() < until:
            time.sleep(0.2)
        return found

    def clear(self):
        for process in marked(self.mark):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def end(self):
        # Any run of `pulumi` leaves Terraform's providers running.
        self.clear()
        super().end()


class Run:
    """An `up` with a slow create, from the moment on at which nothing else is left to be made before that one ends."""

    def __init__(self, stack, tool, seconds):
        self.log = stack.root / f"{uuid.uuid4().hex}.jsonl"
        self.output = (stack.root / "output").open("w+")
        command = "pulumi" if tool == "pulumi" else stack.options.cli
        self.process = subprocess.Popen(
            [command, "up", "--yes", "--skip-preview", "--stack", "dev", "--event-log", self.log],
            cwd=stack.project,
            # `pulumi` hides that option.
            env={**stack.env, "STAGE": "1", "SLEEP": f"{seconds}s", "PULUMI_DEBUG_COMMANDS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )
        until = time.monotonic() + LONG
        while not self.begun():
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the slow create did not begin:\n{self.said()}")
            time.sleep(0.1)
        time.sleep(1)  # so that the plugin is in it, too

    def begun(self):
        lines = self.log.read_text().split("\n")[:-1] if self.log.exists() else []
        events = [json.loads(line) for line in lines]
        seen = {
            kind: {event[kind]["metadata"]["urn"].split("::")[-1] for event in events if kind in event}
            for kind in ("resourcePreEvent", "resOutputsEvent")
        }
        return seen["resOutputsEvent"] >= FIRST and "wait" in seen["resourcePreEvent"]

    def signal(self, number):
        self.process.send_signal(number)

    def ended(self):
        """The exit code."""
        return self.process.wait(LONG)

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def until_said(self, text):
        until = time.monotonic() + LONG
        while text not in self.said():
            if time.monotonic() > until:
                raise SystemExit(f"nothing said {text!r}:\n{self.said()}")
            time.sleep(0.05)


def marked(mark):
    """Processes that have this mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and f"BRIDGED_MARK={mark}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


class Part:
    """A way through which both tools go; what differs is counted, and how each went is kept."""

    def __init__(self, options, language):
        self.options, self.language, self.bad = options, language, 0

    def expect(self, title, found, wanted):
        same = found == wanted
        self.bad += not same
        tail = "" if same else f": DIFFERENT: {wanted!r} was expected"
        print(f"{self.language}: {title}: {found}{tail}", flush=True)

    def kept(self, title, before, after):
        """What was made is as it was, but for the stack and components, whose outputs come at the end."""

        def custom(states):
            return {urn: state for urn, state in full(states).items() if state.get("custom") and state["urn"] in before}

        lines = changed(custom(before), custom(after))
        self.expect(f"{title}, what was made before", "kept" if not lines else "\n".join(lines), "kept")

    def begin(self, tool, versions=NEW):
        stack = Bridged(self.options, self.language, versions)
        stack.run(tool, "stack", "init", "dev")
        return stack

    def over(self, title, stack, tool):
        """No process of the run is left; the reference leaves some, which are ended here."""
        left = stack.left()
        print(f"{self.language}: {title}, processes left: {len(left)}", flush=True)
        self.bad += tool == "maloko" and bool(left)
        stack.clear()

    def goes_on(self, title, stack, tool, before, sleep="10ms"):
        """The next run makes what is missing, and nothing else; then all of it is gone.

        It returns the states before that, and what the preview said."""
        said = stack.said(tool, "preview", SLEEP=sleep)
        print(indented(line for line in said.splitlines() if "wait" in line or "pending" in line), end="")
        stack.up(tool, SLEEP=sleep)
        if tool == "pulumi" and stack.state(tool)[1]:
            # It never forgets a create by itself; maloko does once it has succeeded.
            stack.said(tool, "refresh", "--clear-pending-creates", "--yes", "--skip-preview")
        after, pending = stack.state(tool)
        self.expect(f"{title}, pending after up", pending, [])
        self.kept(title, before, after)
        stack.said(tool, "preview", "--expect-no-changes", SLEEP=sleep)
        stack.said(tool, "destroy", "--yes", "--skip-preview")
        self.expect(f"{title}, left after destroy", stack.state(tool), ({}, []))
        stack.end()
        return after, said


class Killed(Part):
    """SIGKILL in the slow create; one of both tools goes on."""

    def run(self):
        ends = {}
        for first in TOOLS:
            for second in TOOLS:
                ends[first, second] = self.one(f"{first} killed, {second} goes on", first, second)
        for pair, end in ends.items():
            self.bad += compare(f"{self.language}: killed {pair[0]}, then {pair[1]}", ends["pulumi", "pulumi"], end)

    def one(self, title, first, second):
        stack = self.begin(first)
        run = Run(stack, first, LONG)
        run.signal(signal.SIGKILL)
        run.ended()
        self.over(title, stack, first)
        before, pending = stack.state(first)
        self.expect(f"{title}, pending", pending, [f"creating {SLOW}"])
        if first == "pulumi" or second == "pulumi":
            # Only maloko sees by itself that the process of a lock is gone.
            stack.run(first, "cancel", "--yes", "dev")
        if second != first == "maloko":
            stack.hand()
        after, said = self.goes_on(title, stack, second, before)
        if second == "maloko":
            self.expect(f"{title}, the preview names the create", "Sleep wait: an earlier run" in said, True)
        return after


class Interrupted(Part):
    """Ctrl-C in the slow create, once and twice."""

    def run(self):
        seen = {}
        for tool in TOOLS:
            for times in (1, 2):
                seen[tool, times] = self.one(f"{tool} interrupted {times}", tool, times)
        for times in (1, 2):
            self.bad += compare(f"{self.language}: interrupted {times}", seen["pulumi", times], seen["maloko", times])

    def one(self, title, tool, times):
        stack = self.begin(tool)
        run = Run(stack, tool, 12 if times == 1 else LONG)
        start = time.monotonic()
        run.signal(signal.SIGINT)
        if times == 2:
            run.until_said("cancelling")
            run.signal(signal.SIGINT)
        code, took = run.ended(), time.monotonic() - start
        print(f"{self.language}: {title}: exit {code} after {took:.1f} s")
        print(
            indented(line for line in run.said().splitlines() if re.search(r"wait|cancel|pending|[Cc]\^", line)), end=""
        )
        self.over(title, stack, tool)
        before, pending = stack.state(tool)
        self.expect(f"{title}, pending", pending, [] if times == 1 else [f"creating {SLOW}"])
        self.expect(f"{title}, made", any(urn.endswith(SLOW) for urn in before), times == 1)
        after, said = self.goes_on(title, stack, tool, before, "12s" if times == 1 else "10ms")
        if tool == "maloko":
            self.expect(f"{title}, the preview names the create", "Sleep wait: an earlier run" in said, times == 2)
        return after


class Upgraded(Part):
    """From older versions of two providers to newer ones, whose states have another schema in one case."""

    def run(self):
        ends = {}
        for first in TOOLS:
            for second in TOOLS:
                ends[first, second] = self.one(f"{first} before, {second} after", first, second)
        for pair, states in ends.items():
            for step, (theirs, ours) in enumerate(zip(ends["pulumi", "pulumi"], states, strict=True)):
                self.bad += compare(f"{self.language}: upgraded {pair}, step {step}", theirs, ours)

    def one(self, title, first, second):
        stack = self.begin(first, OLD)
        stack.up(first)
        states = [stack.state(first)[0]]
        if second != first == "maloko":
            stack.hand()
        stack.add(NEW)
        said = stack.said(second, "preview", "--diff")
        print(
            indented(line for line in said.splitlines() if re.search(r"[0-9] (to|unchanged|change)|version", line)),
            end="",
        )
        for word, stage in (("up", 1), ("refresh", 1), ("up", 3)):
            stack.said(second, word, "--yes", "--skip-preview", stage=stage)
            states.append(stack.state(second)[0])
            stack.said(second, "preview", "--expect-no-changes", stage=stage)
        begin, after_up, after_refresh, _ = map(hash_of, states)
        made = "up" if after_up != begin else "refresh" if after_refresh != begin else "nothing"
        self.expect(f"{title}, what makes the password's hash anew", made, "refresh")
        versions = {name: version for name, version in NEW.items() if version not in str(states[-1])}
        self.expect(f"{title}, versions that the state lacks", versions, {})
        stack.said(second, "destroy", "--yes", "--skip-preview")
        stack.end()
        return states


def hash_of(states):
    return next(state["outputs"]["bcryptHash"] for urn, state in states.items() if urn.endswith("::password"))


def indented(lines):
    return "".join(f"    | {line.strip()}\n" for line in lines)


PARTS = {"killed": Killed, "interrupted": Interrupted, "upgraded": Upgraded}


def main():
    parser = arguments()
    parser.add_argument("--part", default=",".join(["turns", *PARTS]))
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="bridged-cache-") as options.cache:
        fill(options)
        for language in options.lang.split(","):
            for name in options.part.split(","):
                if name == "turns":
                    bad += take_turns(Bridged, options, language)
                else:
                    part = PARTS[name](options, language)
                    part.run()
                    bad += part.bad
    print(f"{bad} differences")
    raise SystemExit(bool(bad))


def fill(options):
    """Puts the providers where the bridge looks for them."""
    env = {**os.environ, "PULUMI_DYNAMIC_TF_PLUGIN_CACHE_DIR": options.cache}
    for name, version in sorted({*OLD.items(), *NEW.items()}):
        words = ["terraform-provider", "--parameter", f"hashicorp/{name}@{version}"]
        file = options.folder / f"terraform/{name}_{version}"
        subprocess.run([options.cli, "plugin", "install", *words, "--file", file], env=env, check=True)


if __name__ == "__main__":
    main()
