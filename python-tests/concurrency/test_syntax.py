"""Source is parsed from many threads at once: `maloko._process.syntax`."""

# All in Python alone: Python's parser and event loop meet other threads; Node has one thread per program

from __future__ import annotations

import ast
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from night import rounds

from maloko._process.syntax import parsed

MISMATCH = "AST constructor recursion depth mismatch (before=126, after=33)"


class _Restless:
    """A member of a reference cycle; while it is collected, another thread may run."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        threading.Event().wait(0)


def test_threads_that_parse_at_once_all_get_their_tree() -> None:
    source = Path(ast.__file__).read_text(encoding="utf-8")
    whole = len(ast.parse(source).body)

    def statements(_: int) -> int:
        _garbage = [_Restless() for _ in range(5)]
        return len(parsed(source).body)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(statements, range(rounds(16, 32)))) == {whole}


def test_a_parser_disturbed_by_another_thread_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.Module(body=[], type_ignores=[])
    answers = iter([SystemError(MISMATCH), SystemError(MISMATCH), tree])

    def disturbed(_source: str) -> ast.Module:
        answer = next(answers)
        if isinstance(answer, SystemError):
            raise answer
        return answer

    monkeypatch.setattr(ast, "parse", disturbed)
    assert parsed("") is tree


def test_a_parser_that_always_fails_is_an_error_that_callers_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_source: str) -> ast.Module:
        raise SystemError(MISMATCH)

    monkeypatch.setattr(ast, "parse", failing)
    with pytest.raises(SyntaxError, match="AST constructor recursion depth mismatch"):
        parsed("x = 1")
