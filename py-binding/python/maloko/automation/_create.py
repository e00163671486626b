"""The ways to a stack."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

from pulumi.automation import LocalWorkspaceOptions, PulumiFn

from maloko.automation._stack import Stack
from maloko.automation._threads import twin
from maloko.automation._workspace import LocalWorkspace, default_project

_SETTINGS_FILES = ("Pulumi.yaml", "Pulumi.yml")


def create_stack(
    stack_name: str,
    project_name: str | None = None,
    program: PulumiFn | None = None,
    work_dir: str | None = None,
    opts: LocalWorkspaceOptions | None = None,
) -> Stack:
    """Makes a stack, of an inline program (`project_name` and `program`) or of a local one (`work_dir`).

    :param stack_name: the stack's name
    :param project_name: the name of an inline program's project
    :param program: the inline program: a function, which may be async
    :param work_dir: the directory of a local program
    :param opts: settings and variables of the workspace
    :raises StackAlreadyExistsError: when there is a stack of that name
    :raises ValueError: when neither kind of program is given
    """
    return _stack(Stack.create, stack_name, project_name, program, work_dir, opts)


def select_stack(
    stack_name: str,
    project_name: str | None = None,
    program: PulumiFn | None = None,
    work_dir: str | None = None,
    opts: LocalWorkspaceOptions | None = None,
) -> Stack:
    """A stack that is there. The arguments are those of `create_stack`.

    :raises StackNotFoundError: when there is none of that name
    :raises ValueError: when neither kind of program is given
    """
    return _stack(Stack.select, stack_name, project_name, program, work_dir, opts)


def create_or_select_stack(
    stack_name: str,
    project_name: str | None = None,
    program: PulumiFn | None = None,
    work_dir: str | None = None,
    opts: LocalWorkspaceOptions | None = None,
) -> Stack:
    """A stack, which is made where there is none of that name. The arguments are those of `create_stack`.

    :raises ValueError: when neither kind of program is given
    """
    return _stack(Stack.create_or_select, stack_name, project_name, program, work_dir, opts)


create_stack_async = twin(create_stack)
select_stack_async = twin(select_stack)
create_or_select_stack_async = twin(create_or_select_stack)


def _stack(
    make: Callable[[str, LocalWorkspace], Stack],
    stack_name: str,
    project_name: str | None,
    program: PulumiFn | None,
    work_dir: str | None,
    opts: LocalWorkspaceOptions | None,
) -> Stack:
    # The caller's options stay as they are: they may serve for another stack.
    given = dict(vars(opts)) if opts is not None else {}
    if program is not None and not callable(program):
        raise TypeError(f"`program` must be a function without arguments, and is {program!r}")
    if program is not None and project_name is not None:
        given["program"] = program
        settings, directory = given.get("project_settings"), given.get("work_dir")
        if settings is None and not (directory and _has_settings(directory)):
            given["project_settings"] = default_project(project_name)
        elif settings is not None and settings.main is None:
            settings = given["project_settings"] = copy.copy(settings)
            settings.main = str(Path.cwd())
    elif work_dir is not None:
        given["work_dir"] = work_dir
    else:
        raise ValueError(
            "a stack needs either `project_name` and `program` (an inline program) or `work_dir` (a local program)"
        )
    return make(stack_name, LocalWorkspace(**given))


def _has_settings(directory: str) -> bool:
    return any(Path(directory, name).exists() for name in _SETTINGS_FILES)
