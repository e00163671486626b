"""HTTP traffic of provider methods, recorded once and replayed from then on, with vcrpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

from maloko._current import current_call
from maloko._errors import MalokoError
from maloko.testing._redaction import Redactor
from maloko.testing._values import HIDDEN

_MODES = ("none", "once", "new_episodes", "all")
_HEADER = "x-maloko-call"
_SECRET_HEADERS = ("authorization", "cookie", "set-cookie", "x-api-key", "proxy-authorization")


@contextmanager
def cassette(
    path: Path,
    record: str,
    options: dict[str, Any],
    secrets_known: Callable[[], set[str]],
    one_call_at_a_time: AbstractContextManager[None],
) -> Iterator[Any]:
    """Replays the requests that are made in the context, one provider call at a time. Each belongs to the resource and
    the method that made it, so that resources may come in any order. What is known to be secret is not in the file.

    Raises `MalokoError` without vcrpy, for a file that is missing or cannot be read, and for an unknown mode. A request
    that is not in the file raises vcrpy's `CannotOverwriteExistingCassetteException` where it is made.

    :param record: vcrpy's mode: `none` (a request that is not in the file fails), `once`, `new_episodes`, `all`.
    :param options: more of vcrpy's, such as `match_on`.
    """
    if record not in _MODES:
        raise MalokoError(f"record={record!r} is no record mode; those are {', '.join(_MODES)}")
    if record == "none" and not path.exists():
        raise MalokoError(f"there is no cassette {path}; record it: pytest --maloko-record")
    try:
        import vcr
    except ImportError:
        raise MalokoError("cassettes need vcrpy 8 or newer: pip install 'maloko[cassettes]'") from None

    def clean(text: Any) -> Any:
        if isinstance(text, list):
            return [clean(item) for item in text]
        secrets = secrets_known()
        if isinstance(text, bytes):
            try:
                return Redactor(secrets).texts([text.decode()])[0].encode()
            except UnicodeDecodeError:
                # As Latin-1 each byte is a character of its own.
                redactor = Redactor(it.encode().decode("latin-1") for it in secrets)
                return redactor.texts([text.decode("latin-1")])[0].encode("latin-1")
        return Redactor(secrets).texts([text])[0] if isinstance(text, str) else text

    def before_request(request: Any) -> Any:
        # What is read from the file comes through here as well.
        call = current_call()
        headers = dict(request.headers)
        if _HEADER not in headers:
            headers[_HEADER] = f"{call.urn.rpartition('::')[2]}/{call.method}" if call.urn else "program"
        return _request(vcr, request, headers, clean)

    def before_response(response: dict[str, Any]) -> dict[str, Any]:
        response = {**response, "headers": dict(response["headers"])}
        for name, value in response["headers"].items():
            response["headers"][name] = [HIDDEN] if name.lower() in _SECRET_HEADERS else clean(value)
        body = response.get("body") or {}
        if body.get("string") is not None:
            cleaned = clean(body["string"])
            response["body"] = {**body, "string": cleaned}
            for name in list(response["headers"]):
                if name.lower() == "content-length":
                    response["headers"][name] = [str(len(cleaned))]
        return response

    def same_call(first: Any, second: Any) -> None:
        here, there = (request.headers.get(_HEADER) for request in (first, second))
        if here != there:
            raise AssertionError(f"made by {here}, and recorded for {there}")

    recorder = vcr.VCR(
        record_mode=record,
        before_record_request=before_request,
        before_record_response=before_response,
        match_on=("method", "scheme", "host", "port", "path", "query", "maloko_call"),
    )
    recorder.register_matcher("maloko_call", same_call)
    # With the clients that stand on http.client, vcrpy takes its patches out of their modules for a moment whenever it
    # makes a connection, also in a replay: a call on another thread would then reach the service itself. No context
    # variable helps, for modules have none.
    with one_call_at_a_time, ExitStack() as opened:
        try:
            played = opened.enter_context(recorder.use_cassette(str(path), **options))
        except Exception as error:  # whatever its reader of YAML finds wrong
            raise MalokoError(
                f"the cassette {path} is damaged ({error}); record it anew: pytest --maloko-record"
            ) from error
        try:
            yield played
        except vcr.errors.CannotOverwriteExistingCassetteException as error:
            if error.cassette is played:
                error.args = (f"{clean(str(error))}\nrecord the cassette {path} anew: pytest --maloko-record",)
            raise


def _request(vcr: Any, request: Any, headers: dict[str, Any], clean: Callable[[Any], Any]) -> Any:
    """A request as it is kept: another object, for the one that is sent stays as it is."""
    shown = {name: HIDDEN if name.lower() in _SECRET_HEADERS else clean(it) for name, it in headers.items()}
    body = request.body if request.body is None else clean(request.body)
    return vcr.request.Request(request.method, clean(request.uri), body, shown)
