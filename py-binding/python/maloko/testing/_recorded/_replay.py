"""A call from a log, made again: a report of a bug becomes a test."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from maloko._process.tracebacks import message_of, message_with_causes
from maloko.testing._direct import CheckResult, CreateResult, DiffResult, Direct, ReadResult
from maloko.testing._judgement import ask
from maloko.testing._operations._calls import Call
from maloko.testing._values import plain_json


def replay(
    provider: Any,
    logged: Call | str | os.PathLike[str],
    *,
    config: Mapping[str, Any] | None = None,
    project: str = "project",
) -> Any:
    """Makes a logged call again, without an engine, and gives its answer: `None` where it fails as it did then.

    In the logged result and error a text `*` stands for anything, and within a text for any part of it. So does what
    hides a secret.

    :param provider: the provider, a class or an object.
    :param logged: the call, or the file that `Call.save` wrote.
    :param config: what `configure` is given before.
    :param project: the project whose configuration it is, or that of the logged `configure`.
    :raises AssertionError: when the call does not come to the same.
    :raises MalokoError: when there is no call that could be made again.
    """
    given = logged._told() if isinstance(logged, Call) else os.fspath(logged)
    asked = ask("call_to_repeat", logged=given, how="`s.calls.create['b'].save(path)`")
    call, arguments = asked["call"], asked["arguments"]
    answer, failure = None, None
    outcome: dict[str, Any]
    try:
        if call["method"] == "configure":
            Direct(provider, config=arguments[0], project=project).close()
        else:
            with Direct(provider, config=config, project=project) as direct:
                answer = getattr(direct, call["method"])(*arguments)
        outcome = {"answered": plain_json(_named(answer, call["method"]))}
    except Exception as error:
        failure = error
        outcome = {"failed": [message_with_causes(error), message_of(error), str(error)]}
    difference = ask("call_difference", call=call, outcome=outcome)
    if difference is not None:
        raise AssertionError(difference) from failure
    return answer


def _named(answer: Any, method: str) -> Any:
    """An answer with the names that a log has."""
    if isinstance(answer, CheckResult):
        failures = [{"property": name, "reason": reason} for name, reason in answer.failures]
        return {"inputs": answer.inputs, "failures": failures}
    if isinstance(answer, DiffResult):
        members = {"changes": answer.changes, "replaces": answer.replaces, "stables": answer.stables}
        return {**members, "deleteBeforeReplace": answer.delete_before_replace}
    if isinstance(answer, CreateResult | ReadResult):
        return vars(answer)
    return {"outs": answer} if method == "update" else answer
