"""Runs a program against an engine: by path, as the command line does, or a function."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from pulumi.errors import RunError

from maloko._errors import MalokoError
from maloko._process.event_loops import LAST_SECONDS, end_tasks, loop_of_thread, new_loop, unfinished_tasks
from maloko._process.forks import OwnProcess
from maloko._process.tracebacks import format_program_error, message_of, with_own_command
from maloko._providers import registered
from maloko._run.module_bodies import ModuleBodies
from maloko._run.tasks import ProgramTasks
from maloko._sdk import seams
from maloko._sdk.version import newer_than_tested

if TYPE_CHECKING:
    from maloko._maloko import Engine
    from maloko._run.host import Host
    from maloko._sdk.monitor import Monitor

GRACE_SECONDS = 2.0
"""How long a program may go on after the engine has stopped, before its event loop is cancelled."""
CLEAN_UP_SECONDS = 10.0
"""How long tasks that the program has left behind may clean up when they are cancelled."""

Program = Callable[[], Awaitable[None] | None]


class Failure(NamedTuple):
    """How a program failed: what the user reads, and the exception."""

    message: str
    error: BaseException


def run_program(host: Host, engine: Engine, program: Program) -> Failure | None:
    """Runs a program to its end, or until the engine stops. Must not be called where an event loop is running."""
    host.engine = engine
    if host.registry.main is None:
        # Programs by path begin without any module of theirs.
        host.bodies = ModuleBodies(engine.project, engine.stack)
    try:
        host.on_close.enter_context(seams.in_place())
    except MalokoError as error:
        return Failure(str(error), error)
    warning = newer_than_tested()
    if warning is not None:
        engine.log("", 2, warning)
    return contextvars.copy_context().run(_run_in_context, host, engine, program)


def _run_in_context(host: Host, engine: Engine, program: Program) -> Failure | None:
    loop = new_loop()
    before = loop_of_thread()
    asyncio.set_event_loop(loop)
    try:
        monitor = seams.enter_run(engine, host, loop)
        registered.begin_run()
        host.loop = loop
        host.context = contextvars.copy_context()
        host.on_close.callback(_close_loop, loop)
        return _run_on_loop(host, engine, loop, monitor, program)
    finally:
        asyncio.set_event_loop(before)


def _run_on_loop(
    host: Host, engine: Engine, loop: asyncio.AbstractEventLoop, monitor: Monitor, program: Program
) -> Failure | None:
    process = OwnProcess()
    main = loop.create_task(_main(program, process))
    tasks = ProgramTasks(loop)
    strays: list[BaseException] = []

    def may_wind_up() -> bool:
        for urn, module in host.bodies.not_executed_again() if host.bodies is not None else ():
            engine.refuse_deletion(
                urn,
                "it is not registered in this run, but that does not mean that the program no longer has it: the body "
                f"of module '{module}' registers it, which ran when the module was imported in an earlier run of this "
                "process, and does not run again. Nothing is deleted. Register resources in functions, reload the "
                "module (importlib.reload), or use a process for each run",
            )
        error = tasks.error()
        if error is not None:
            strays.append(error)
            return False
        for task in tasks.unfinished():
            engine.log(
                "",
                2,
                f"the program ended while its task {task} was still running; what the task would have registered is "
                "not part of this run. Await the task, or hand it to pulumi.run or pulumi.export",
            )
        return True

    def stopped() -> None:
        try:
            loop.call_soon_threadsafe(lambda: loop.call_later(GRACE_SECONDS, main.cancel))
        except RuntimeError:
            # The program was quicker.
            return

    def left_over(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # After a failure every task that waited for the engine fails too; one error says it all.
        if not monitor.over and not main.done():
            loop.default_exception_handler(context)

    loop.set_exception_handler(left_over)
    engine.when_stopped(stopped)
    monitor.may_wind_up = may_wind_up
    watch = host.watch(loop, monitor, main) if host.watch is not None else None
    try:
        loop.run_until_complete(main)
    except BaseException as error:  # how the program ended is a result, whatever it raised
        process.go_on_only_here(error)
        _expect_leftovers()
        return _failure((watch and watch.found) or error, monitor)
    finally:
        if watch is not None:
            watch.end()
        process.go_on_only_here()
        of_engine = host.calls_on_loop.begun
        left_over_tasks = [task for task in unfinished_tasks(loop) if task not in of_engine]
        end_tasks(loop, left_over_tasks, CLEAN_UP_SECONDS, LAST_SECONDS)
        host.program_ended()
    stray = strays[0] if strays else tasks.error()
    return None if stray is None else _failure(stray, monitor)


def _expect_leftovers() -> None:
    """Keeps Python from warning of what the SDK's outputs had still to do when their program failed."""
    # The SDK makes the coroutines of an output first, and awaits them in a task that may be cancelled before it begins.
    warnings.filterwarnings("ignore", r"coroutine 'Output\.\w+' was never awaited", RuntimeWarning)


async def _main(program: Program, process: OwnProcess) -> None:
    def body() -> Awaitable[None] | None:
        try:
            going_on = program()
        except BaseException as error:
            process.go_on_only_here(error)
            raise
        # Back to the event loop a copy of the process must not come.
        process.go_on_only_here()
        return going_on

    await seams.run_stack(body)


def _close_loop(loop: asyncio.AbstractEventLoop) -> None:
    if loop.is_running():
        return
    executor = getattr(loop, "_default_executor", None)
    if executor is not None:
        executor.shutdown(wait=False)
    loop.close()


def _failure(error: BaseException, monitor: Monitor) -> Failure | None:
    if isinstance(error, SystemExit):
        if error.code is None or error.code == 0:
            return None
        return Failure(f"the program ended with sys.exit({error.code!r})", error)
    if monitor.over and (isinstance(error, asyncio.CancelledError) or _comes_from_shutdown(error)):
        # The engine has reported what went wrong; this is only its echo in the program.
        return None
    if isinstance(error, RunError):
        # The SDK's way of ending a program with a message for its user, who needs no traceback.
        return Failure(with_own_command(str(error), error), error)
    if isinstance(error, MalokoError):
        return Failure(message_of(error), error)
    return Failure(format_program_error(error), error)


def _comes_from_shutdown(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, RunError) and "shutting down" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


# Programs by path.

_path_programs = threading.Lock()
"""Programs by path share `sys.modules`, `sys.argv` and the working directory: one at a time in a process."""


def run_path(host: Host, engine: Engine, entry: Path) -> Failure | None:
    """Runs the program at a path: a file, or a directory with a `__main__.py`."""
    try:
        file = find_main(entry)
    except MalokoError as error:
        if entry.parent.is_dir():
            # A destroy or refresh goes on with what the state says, and needs the modules that are there.
            attach(host, engine, entry)
        return Failure(str(error), error)
    enter_directory(host, file.parent, [str(file)])
    module = ModuleType("__main__")
    module.__file__ = str(file)
    module.__builtins__ = __builtins__  # type: ignore[attr-defined]
    previous = sys.modules.get("__main__")
    sys.modules["__main__"] = module
    host.on_close.callback(_restore_main, module, previous)
    host.registry.main = module

    def program() -> None:
        code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        exec(code, module.__dict__)

    return run_program(host, engine, program)


def attach(host: Host, engine: Engine, entry: Path) -> None:
    """Prepares for provider objects that are rebuilt from the state, of a program by path that is not run."""
    enter_directory(host, entry if entry.is_dir() else entry.parent, [])
    attach_here(host, engine)


def attach_here(host: Host, engine: Engine) -> None:
    """The same for modules that this process finds as it is."""
    host.engine = engine
    host.on_close.enter_context(seams.in_place())

    def enter() -> None:
        loop = new_loop()
        host.on_close.callback(_close_loop, loop)
        seams.enter_run(engine, host, loop)
        host.context = contextvars.copy_context()

    contextvars.copy_context().run(enter)


def find_main(entry: Path) -> Path:
    """The file that a program begins with."""
    if entry.is_file():
        return entry
    file = entry / "__main__.py"
    if file.is_file():
        return file
    if entry.is_dir():
        raise MalokoError(f"there is no __main__.py in {entry}; make one, or set 'main' in Pulumi.yaml")
    raise MalokoError(f"there is no {entry}; 'main' in Pulumi.yaml must name a directory or a Python file")


def enter_directory(host: Host, place: Path, arguments: list[str]) -> None:
    """Makes the process look as it does when Python runs a file there; put back when the host is closed."""
    if not _path_programs.acquire(blocking=False):
        raise MalokoError(
            "another program is being run by path in this process; run function programs side by side, or one process "
            "for each path"
        )
    host.on_close.callback(_path_programs.release)
    directory = str(place.resolve())
    for owner, name, value in ((sys, "argv", arguments or sys.argv), (sys, "path", [directory, *sys.path])):
        host.on_close.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)
    host.on_close.callback(os.chdir, Path.cwd())
    os.chdir(directory)
    modules = set(sys.modules)
    host.on_close.callback(_forget_modules, modules, directory)


def _restore_main(module: ModuleType, previous: ModuleType | None) -> None:
    if sys.modules.get("__main__") is module:
        if previous is None:
            del sys.modules["__main__"]
        else:
            sys.modules["__main__"] = previous


def _forget_modules(before: set[str], directory: str) -> None:
    """Drops the program's own modules, so that their bodies run again in the next run of this process."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name not in before and file and str(Path(file).resolve()).startswith(directory + os.sep):
            del sys.modules[name]
