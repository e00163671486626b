"""One stack, deployed by the process that calls: the step that every engine which distributes stacks needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from yaml import YAMLError  # type: ignore[import-untyped]

from maloko._reasons import Reason, Why
from maloko.automation import _settings as settings_files
from maloko.automation._child import run_child
from maloko.automation._flags import flags
from maloko.automation._inside import absolute, run_inside
from maloko.automation._listeners import Listeners
from maloko.automation._outcomes import CommandOutcome
from maloko.automation._progress import Progress, progress_of
from maloko.automation._running import Run
from maloko.automation._threads import awaited
from maloko.fleet._course._earlier_changes import NO_CHANGE
from maloko.fleet._ends import End, FleetError
from maloko.fleet._printed import printing
from maloko.fleet._programs import load_program
from maloko.fleet._wire import Outcome, StackSpec

_OPERATIONS = {
    "up": ["up", "--yes", "--skip-preview"],
    "preview": ["preview"],
    "refresh": ["refresh", "--yes", "--skip-preview"],
    "destroy": ["destroy", "--yes", "--skip-preview"],
    "import": ["import", "--yes", "--skip-preview", "--generate-code=false"],
}
_MAKES_STACKS = ("up", "preview", "import")
_GIVES_TAGS = ("up", "import")
"""A stack has its labels as tags, for `stack ls --label`."""
_CANCELLED = 8
"""The exit code of a command that was stopped."""


async def deploy_one(
    stack: StackSpec,
    verb: str = "up",
    *,
    directory: str | os.PathLike[str] = ".",
    run: str | None = None,
    attempt: int = 1,
    backend: str | None = None,
    key: str = "stack",
    history_limit: int | None = None,
    generations: int | None = None,
    preview_only: bool = False,
    outputs: bool = False,
    message: str = "",
    import_file: str = "",
    on_progress: Callable[[Any], None] | None = None,
    progress_every: float = 2.5,
) -> End:
    """Works on one stack and says how it ended. It raises nothing for a stack that fails.

    If the task that awaits it is cancelled, the run is cancelled with it and ends in order first.

    :param stack: the stack, as a plan has it (`Fleet.plan("up")["stacks"]`)
    :param verb: `up`, `preview`, `refresh`, `destroy`, `import` or `outputs`
    :param directory: that of the fleet, against which the program's path counts
    :param run: the piece of work that this is an attempt at: a name that no other one has. A later attempt takes over
        the lock of an earlier one that is dead
    :param attempt: which attempt; has to rise
    :param backend: where the state is kept; the project's own place when not given
    :param key: `fleet`: all stacks share one key; `stack`: each has its own
    :param history_limit: entries of the stack's history that are kept; as `MALOKO_HISTORY_LIMIT` says when not given
    :param generations: former states that are kept; as `MALOKO_GENERATIONS` says when not given
    :param preview_only: of a refresh, only say what differs
    :param outputs: whether the end has the stack's outputs; secret ones are `[secret]`
    :param message: what the stack's history says of it
    :param import_file: where what the stack takes over is listed, as for `maloko import --file`: relative to the
        directory, with `{stack}`, `{project}` and `{label}` for its own. A stack without such a file takes nothing over
    :param on_progress: is called with counts while it goes on, by the event loop; what it raises is raised at the end,
        and it is not called again
    :param progress_every: seconds between two calls of it
    :raises FleetError: when the program cannot be loaded, or the verb is not known
    """
    if verb not in _OPERATIONS and verb != "outputs":
        raise FleetError(f"there is no verb '{verb}' for a stack of a fleet: use {', '.join(_OPERATIONS)} or outputs")
    root = Path(absolute(os.fspath(directory)))
    variables = variables_for(backend, root)
    if run is not None:
        variables["MALOKO_ATTEMPT"] = f"{run}:{attempt}"
    if history_limit is not None:
        variables["MALOKO_HISTORY_LIMIT"] = str(history_limit)
    if generations is not None:
        variables["MALOKO_GENERATIONS"] = str(generations)
    began = time.monotonic()
    ended: list[End] = []
    runs: list[Run] = []

    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="maloko-stack-") as private:
            commands = StackCommands(stack, root, Path(private), variables, runs.append)
            ended.append(commands.perform(verb, key, _VerbOptions(preview_only, outputs, message, import_file)))

    async def watch(tell: Callable[[Progress], Any]) -> None:
        # The run is asked. To be told by it would cost a thread or two for each stack, most of which end before that.
        while True:
            await asyncio.sleep(progress_every)
            if runs:
                tell(progress_of(runs[-1].progress()))

    watching = None if on_progress is None else asyncio.create_task(watch(on_progress))
    try:
        await awaited(work)
    except asyncio.CancelledError:
        if ended:
            raise CancelledAfter(ended[0]) from None
        raise
    finally:
        if watching is not None:
            watching.cancel()
    if watching is not None:
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    return replace(ended[0], attempts=attempt, seconds=time.monotonic() - began)


class CancelledAfter(asyncio.CancelledError):
    """The task was cancelled, and this is how the stack ended."""

    def __init__(self, end: End) -> None:
        super().__init__()
        self.end = end


def variables_for(backend: str | None, root: Path) -> dict[str, str]:
    """The environment of commands for stacks whose state is in a backend; a relative one is below the directory."""
    if backend is None:
        return dict(os.environ)
    place = backend.removeprefix("file://")
    if place != backend and not place.startswith(("/", "~")):
        backend = f"file://{root / place}"
    return {**os.environ, "PULUMI_BACKEND_URL": backend}


class _VerbOptions(NamedTuple):
    preview_only: bool
    outputs: bool
    message: str
    import_file: str


class StackCommands:
    """The commands for one stack, with settings and an environment of their own."""

    def __init__(
        self,
        stack: StackSpec,
        root: Path,
        private: Path,
        variables: Mapping[str, str],
        began: Callable[[Run], None] = lambda run: None,
    ) -> None:
        self._stack = stack
        self._root = root
        self._variables = variables
        self._began = began
        self._program: Callable[[], Any] | None = None
        self._directory = private if stack["inline"] else root / stack["program"]
        if stack["inline"]:
            settings_files.write(str(private), "Pulumi", {"name": stack["project"], "runtime": stack["language"]})
        self._settings = private / f"Pulumi.{stack['stack']}.yaml"
        self._secrets = _secrets_of(stack, root, variables)
        self._write_settings()

    def perform(self, verb: str, key: str, asked: _VerbOptions) -> End:
        """Makes or finds the stack, gives it its secrets, and does what is asked."""
        if self._stack["inline"]:
            self._program = load_program(self._root, self._stack["program"])
        creates = verb in _MAKES_STACKS
        select = ["stack", "select", *(["--create"] if creates else [])]
        if creates and key == "fleet":
            select += ["--secrets-provider", "fleet"]
        if verb in _GIVES_TAGS:
            select += [f"--tag={name}={value}" for name, value in self._stack["labels"].items() if _is_tag(name, value)]
        selected = self.command(select)
        if selected.why is not None and selected.why.reason is Reason.NO_STACK and not creates:
            # There is nothing to destroy, to refresh or to tell.
            return End(self._stack["id"], "unchanged", outputs={} if verb == "outputs" else None)
        if selected.result.code != 0:
            return self._end(selected)
        if self._secrets:
            pairs = [part for name, value in self._secrets.items() for part in ("--secret", f"{name}={value}")]
            configured = self.command(["config", "set-all", *pairs])
            if configured.result.code != 0:
                return self._end(configured)
        end = self._operate(verb, asked)
        if (asked.outputs or verb == "outputs") and end.succeeded:
            listed = self.command(["stack", "output", "--json"])
            return (
                replace(end, outputs=json.loads(listed.result.stdout)) if listed.result.code == 0 else self._end(listed)
            )
        return end

    def _operate(self, verb: str, asked: _VerbOptions) -> End:
        if verb == "outputs":
            return End(self._stack["id"], "unchanged")
        given = {"message": asked.message or None, "suppress_outputs": True, "suppress_progress": True}
        verb_words = ["refresh", "--preview-only"] if verb == "refresh" and asked.preview_only else _OPERATIONS[verb]
        if verb == "import":
            name = _of_stack(asked.import_file, self._stack)
            file = self._root / name
            if not file.is_file():
                missing = f"it takes nothing over: there is no file {name} at this worker"
                return End(self._stack["id"], "unchanged", warnings=(missing,))
            verb_words = [*verb_words, "--file", str(file)]
        kind = "auto.local" if self._program is None else "auto.inline"
        arguments = [*verb_words, *flags(given), "--exec-kind", kind]
        return self._end(self.command(arguments, operates=True))

    def command(self, arguments: list[str], *, operates: bool = False) -> CommandOutcome:
        """Runs a command for the stack; how it ended is in what it gives."""
        words = [*arguments, "--stack", self._stack["stack"], "--config-file", str(self._settings), "--non-interactive"]
        directory = str(self._directory)
        if not operates:
            return run_inside(words, directory, self._variables, Listeners())
        by = printing()
        listeners = Listeners(on_printed=None if by is None else by.tell)
        if self._program is None:
            return run_child(words, directory, self._variables, listeners, self._began)
        return run_inside(
            words,
            directory,
            self._variables,
            listeners,
            self._program,
            self._began,
            on_host=(lambda host: None) if by is None else by.of,
        )

    def _end(self, finished: CommandOutcome) -> End:
        name, operation, why = self._stack["id"], finished.operation, finished.why
        changes = {} if operation is None else {op: count for op, count in operation.changes.items() if count}
        read = () if operation is None else operation.read
        warnings = () if operation is None else operation.warnings
        differences = () if operation is None else operation.differences
        if finished.result.code == 0:
            changed = any(op not in NO_CHANGE for op in changes)
            outcome: Outcome = "done" if changed else "unchanged"
            return End(name, outcome, changes, read=read, warnings=warnings, differences=differences)
        cancelled = finished.result.code == _CANCELLED and (why is None or why.reason is Reason.CANCELLED)
        return End(
            name,
            "cancelled" if cancelled else "failed",
            changes,
            reason=Reason.OTHER.value if why is None else why.reason.value,
            text=_text_of(why) if why is not None else f"the command ended with the exit code {finished.result.code}",
            urn=None if operation is None else operation.urn,
            method=None if operation is None else operation.method,
            retry_after=None if why is None else why.retry_after,
            needs=None if why is None else why.needs,
            read=read,
            warnings=warnings,
        )

    def _write_settings(self) -> None:
        """The stack's own settings, where its program has some, with what the fleet says over them."""
        own = settings_files.file_of(str(self._directory), f"Pulumi.{self._stack['stack']}")
        try:
            members = {} if own is None else settings_files.read(own) or {}
        except (OSError, ValueError, YAMLError) as error:
            raise FleetError(f"{self._stack['id']}: {own} cannot be read: {error}") from error
        config = dict(members.get("config") or {})
        for name, value in self._stack["config"].items():
            if isinstance(value, str):
                config[_full(self._stack, name)] = value
        settings_files.write(str(self._settings.parent), self._settings.stem, {**members, "config": config})


def _text_of(why: Why) -> str:
    """A line about a failure. Who holds a lock is known; what to do about it by hand is no advice for a fleet."""
    holder = why.holder
    if why.reason is Reason.KEY:
        # The rest is advice for a command in a terminal.
        return re.split(r"[.;] ", why.text, maxsplit=1)[0]
    if why.reason is not Reason.LOCKED or holder is None:
        return why.text
    if holder.run:
        return f"locked by run {holder.run.split('/', 1)[0]}"
    return f"locked by {holder.user} (`{holder.operation}`) on {holder.host} since {holder.since}"


def _is_tag(name: str, value: str) -> bool:
    """Labels are columns of tables, too; not all of those can be tags."""
    return re.fullmatch(r"[A-Za-z0-9_.:-]{1,40}", name) is not None and len(value) <= 256


def _of_stack(template: str, stack: StackSpec) -> str:
    for name, value in {**stack["labels"], "project": stack["project"], "stack": stack["stack"]}.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _full(stack: StackSpec, name: str) -> str:
    return name if ":" in name else f"{stack['project']}:{name}"


def _secrets_of(stack: StackSpec, root: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The secret values of the stack's configuration, read where they are: in this process."""
    values = {}
    for name, value in stack["config"].items():
        if isinstance(value, str):
            continue
        source = value["secretFrom"]
        if "env" in source:
            found = variables.get(source["env"])
            if found is None:
                raise FleetError(
                    f"{stack['id']}: the configuration '{name}' is in the variable {source['env']}, which is not set "
                    "for this worker: set it where the worker is started"
                )
        else:
            try:
                found = (root / source["file"]).read_text(encoding="utf-8").rstrip("\n")
            except OSError as error:
                raise FleetError(
                    f"{stack['id']}: the configuration '{name}' is in the file {source['file']}, which cannot be "
                    f"read: {error.strerror}"
                ) from error
        values[_full(stack, name)] = found
    return values
