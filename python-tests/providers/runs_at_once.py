"""A second run in the process, beside that of a test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kit import Echo, Thing
from pulumi.dynamic import CreateResult
from stacks import Run, Stack


@contextmanager
def another_run(provider: Any, **config: str) -> Iterator[None]:
    """While another run uses the provider; that one succeeds."""
    configured, over = threading.Event(), threading.Event()

    class Waiting(Echo):
        def create(self, props: dict[str, Any]) -> CreateResult:
            configured.set()
            assert over.wait(60)
            return super().create(props)

    def program() -> None:
        first = Thing(provider, "first", {"name": "first"})
        Thing(Waiting(), "waiting", {"first": first.id})

    stack = Stack(name="other", config=config)
    results: list[Run] = []
    thread = threading.Thread(target=lambda: results.append(stack.run("update", program)))
    thread.start()
    try:
        assert configured.wait(60)
        yield
    finally:
        over.set()
        thread.join(60)
    assert [result.outcome for result in results] == ["succeeded"], results[0].error
