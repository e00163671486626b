"""Reads Python source into a syntax tree, and writes tracebacks, from many threads at once.

`ast.parse` of Python 3.11 counts its depth in one place for all threads, so two calls at the same time can fail with
"AST constructor recursion depth mismatch" (python/cpython issue 106905). Later versions count it in each thread.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from typing import TypeVar

# While a thread parses, the garbage collector or a signal may have it run code that parses, too.
_one_at_a_time = threading.RLock()

_ATTEMPTS = 20
"""Code outside maloko parses too, without the lock: such a meeting is rare, and a further attempt mostly succeeds."""

_Result = TypeVar("_Result")


def asked_again(parse: Callable[[], _Result]) -> _Result:
    """What the function returns, which parses Python source or writes a traceback: that parses the lines in it.

    It may run the user's code, so no lock is held meanwhile.

    :raises SyntaxError: the parser failed at each attempt.
    """
    for _ in range(_ATTEMPTS):
        try:
            return parse()
        except SystemError as error:
            failed = error
    raise SyntaxError(f"Python's parser failed {_ATTEMPTS} times: {failed}")


def parsed(source: str | bytes) -> ast.Module:
    """The syntax tree of a module.

    :raises SyntaxError: the source is not Python, or nests too deep for Python's parser.
    :raises ValueError: the source has null bytes.
    """
    with _one_at_a_time:
        return asked_again(lambda: ast.parse(source))
