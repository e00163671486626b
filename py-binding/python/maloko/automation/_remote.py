"""Remote operations, which are a service of Pulumi Cloud."""

from __future__ import annotations

from typing import Any, NoReturn

from maloko.automation.errors import UnsupportedError


def _refuse(name: str) -> NoReturn:
    raise UnsupportedError(f"{name}: remote operations are a service of Pulumi Cloud; use a local or inline program")


def create_remote_stack_git_source(*args: Any, **kwargs: Any) -> NoReturn:
    """:raises UnsupportedError: always"""
    _refuse("create_remote_stack_git_source")


def create_or_select_remote_stack_git_source(*args: Any, **kwargs: Any) -> NoReturn:
    """:raises UnsupportedError: always"""
    _refuse("create_or_select_remote_stack_git_source")


def select_remote_stack_git_source(*args: Any, **kwargs: Any) -> NoReturn:
    """:raises UnsupportedError: always"""
    _refuse("select_remote_stack_git_source")
