"""What `configure` sets on a provider object belongs to one run.

A process may hand one object to many runs: one that is made at the top of a module is the same for every stack that a
service deploys, and for every test. The first run that needs it configured holds it, and its very methods are called. A
run that comes after that one finds it as it was before: what `configure` had set is taken back first, and so is what
any method has made where nothing was (a client made on first use holds a token, too). A run that comes while another
one goes on gets a copy of its own, made of what the object was before its first `configure`; where that cannot be done
without a surprise it is refused.
"""

from __future__ import annotations

import inspect
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from maloko._providers.attributes import StoredAttributes, attributes_of, has_own_state, kept_of, not_plain, values_of
from maloko._providers.copies import ProviderInUse, User, copy_for_run, copy_of, factory_made

_MISSING = object()


class Change(NamedTuple):
    """What `configure` made of an attribute, or of the content of a list or dict that it found in one."""

    before: Any
    after: Any


class Origin:
    """What is known of one provider object for as long as it lives: as what it was made, and who holds it."""

    def __init__(self, provider: Any, taken: StoredAttributes) -> None:
        self.taken = taken
        self.values = values_of(provider)
        """Its attributes as they were before its first `configure`."""
        self.contents = _contents(self.values)
        """Copies of the plain lists and dicts among them: these change in place."""
        self._holder: weakref.ref[Claims] | None = None
        self._configured_by: weakref.ref[Claims] | None = None
        self._calls = 0
        self._set: dict[str, Change] = {}
        self._set_inside: dict[str, Change] = {}
        self._left: dict[str, Any] | None = None
        self._contents_left: dict[str, Any] = {}

    @property
    def is_free(self) -> bool:
        """Does no run hold it, and does no method go on that a run has given up?"""
        return self._calls == 0 and (self._holder is None or self._holder() is None)

    def user_for(self, claims: Claims) -> User:
        """Who has it, so that others cannot: for the message."""
        holder = None if self._holder is None else self._holder()
        if claims.is_of_same_run(holder):
            return User.CONFIGURATION
        return User.ABANDONED if self._calls > 0 and holder is None else User.RUN

    def make_ready(self, provider: Any) -> None:
        """Before the next run sees it: what `configure` has set is taken back, and what methods have made where
        nothing was. What the program itself has set since the last run stays, and counts from now on as what the object
        was made with."""
        if not self.is_free:
            return
        self._configured_by = None
        left = self._note_program(provider)
        if left is not None:
            now = values_of(provider)
            self._take_made(provider, {name for name in now if not self._is_changed(name, left, now)})
        for name, change in self._set.items():
            if getattr(provider, name, _MISSING) is change.after:
                _restore(provider, name, change.before)
        for name, change in self._set_inside.items():
            _restore_inside(getattr(provider, name, None), change.before, change.after)
        self._set.clear()
        self._set_inside.clear()

    def configures_again(self, claims: Claims, provider: Any) -> None:
        """Before `configure` is called again for the same run: what it has not set itself, and was made where nothing
        was, goes."""
        if self.is_configured_by(claims) and self._calls == 0:
            self._take_made(provider, set(values_of(provider)) - set(self._set))

    def _take_made(self, provider: Any, names: set[str]) -> None:
        """Takes back what was made where nothing was before the first `configure`: it may hold what the run was
        configured with."""
        for name in names:
            before = self.values.get(name, _MISSING)
            had = _inherited(provider, name) if before is _MISSING else before
            if had is None:
                _restore(provider, name, before)

    def _note_program(self, provider: Any) -> dict[str, Any] | None:
        """What the program has set since the last call counts. Gives how the object was left then, once."""
        left, self._left = self._left, None
        if left is not None and not has_own_state(provider):
            self._note_changes(left, values_of(provider), provider)
        return left

    def _note_changes(self, left: dict[str, Any], now: dict[str, Any], provider: Any) -> None:
        changed = {name for name in {**left, **now} if self._is_changed(name, left, now)}
        for name in changed:
            self.values.pop(name, None)
            self.contents.pop(name, None)
        given = {name: now[name] for name in changed if name in now}
        self.values.update(given)
        self.contents.update(_contents(given))
        if changed:
            self.taken = kept_of(provider, {**self.values, **self.contents})

    def _is_changed(self, name: str, left: dict[str, Any], now: dict[str, Any]) -> bool:
        before, after = left.get(name, _MISSING), now.get(name, _MISSING)
        return before is not after or (name in self._contents_left and bool(self._contents_left[name] != after))

    def hold(self, claims: Claims, provider: Any) -> bool:
        """Has a run hold it, if it is free."""
        if self._holder is not None and self._holder() is claims:
            return True
        if not self.is_free:
            return False
        if self.is_configured_by(claims):
            self._note_program(provider)
        else:
            self.make_ready(provider)
        self._holder = weakref.ref(claims)
        return True

    def is_configured_by(self, claims: Claims) -> bool:
        """Is it as that run has configured it?"""
        return self._configured_by is not None and self._configured_by() is claims

    @property
    def paused(self) -> Claims | None:
        """Who has configured it, makes no calls just now, and is to close it before others take it."""
        owner = None if self._configured_by is None else self._configured_by()
        return owner if owner is not None and owner.on_taken is not None and self.is_free else None

    def forget_configured(self, claims: Claims) -> None:
        """A run has let go of what it had configured."""
        if self.is_configured_by(claims):
            self._configured_by = None

    def call_begins(self) -> None:
        """One of its methods is called."""
        self._calls += 1

    def call_ended(self, provider: Any) -> None:
        """It has ended."""
        self._calls -= 1
        if self.is_free:
            self._note_left(provider)

    def note_configured(
        self, claims: Claims, provider: Any, before: tuple[dict[str, Any], dict[str, Any]], config: Any
    ) -> None:
        """Compares the object with what it was before its `configure`."""
        self._configured_by = weakref.ref(claims)
        (values, contents), now = before, values_of(provider)
        for name in {**values, **now}:
            change = Change(values.get(name, _MISSING), now.get(name, _MISSING))
            if change.before is not change.after:
                if not _is_count(change.before, change.after):
                    _note(self._set, name, change)
            elif name in contents and contents[name] != change.after:
                inside = Change(contents[name], copy_of(change.after))
                if not _is_log(inside.before, inside.after, config):
                    _note(self._set_inside, name, inside)

    def release(self, provider: Any) -> None:
        """The run that held it is over."""
        self._holder = None
        if self._calls == 0:
            self._note_left(provider)

    def _note_left(self, provider: Any) -> None:
        self._left = values_of(provider)
        self._contents_left = _contents(self._left)


class _Origins:
    """The origins of all provider objects that were ever configured in this process, by the object."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, Origin]] = {}

    def get(self, provider: Any) -> Origin | None:
        entry = self._entries.get(id(provider))
        return None if entry is None or entry[0]() is not provider else entry[1]

    def add(self, provider: Any, origin: Origin) -> None:
        number = id(provider)

        def forget(reference: Any) -> None:
            entry = self._entries.get(number)
            if entry is not None and entry[0] is reference:
                del self._entries[number]

        try:
            reference: Any = weakref.ref(provider, forget)
        except TypeError:  # its class has slots only, and none for that
            self._prune()
            reference = _StrongReference(provider)
        self._entries[number] = (reference, origin)

    def _prune(self) -> None:
        """Lets go of objects that nobody else has."""
        for number, (reference, _) in list(self._entries.items()):
            if isinstance(reference, _StrongReference) and reference.is_alone():
                del self._entries[number]


class _StrongReference:
    """Keeps an object that cannot be referred to weakly."""

    __slots__ = ("_provider",)

    def __init__(self, provider: Any) -> None:
        self._provider = provider

    def __call__(self) -> Any:
        return self._provider

    def is_alone(self) -> bool:
        return sys.getrefcount(self._provider) <= _ALONE


_ALONE = sys.getrefcount(_StrongReference(object())._provider)
_origins = _Origins()
_lock = threading.RLock()


def _renew() -> None:
    """In a process that was forked off: whoever held the lock is not here, and no run of the parent is."""
    global _lock
    _lock = threading.RLock()


def taken_of(provider: Any) -> StoredAttributes:
    """What stands for an object in the state. What an earlier run's `configure` has set is taken back, and is no part
    of it."""
    with _lock:
        origin = _origins.get(provider)
        if origin is not None:
            if origin.paused is None:
                origin.make_ready(provider)
            return origin.taken
    return attributes_of(provider)


def _origin_of(provider: Any, taken: StoredAttributes) -> Origin:
    origin = _origins.get(provider)
    if origin is None:
        origin = Origin(provider, taken)
        _origins.add(provider, origin)
    return origin


class _Claim(NamedTuple):
    called: Any
    """The object that is called for this run."""
    origin: Origin
    is_copy: bool


class Claims:
    """The provider objects that one run has configured by one configuration, by number."""

    def __init__(self, on_taken: Callable[[], None] | None = None, run: object = None) -> None:
        """
        :param on_taken: lets go of what was configured, when another run is about to take it in a pause.
        :param run: whose they are: a run has several, one for each of its configurations.
        """
        self.on_taken = on_taken
        self._run = run
        self._claims: dict[int, _Claim] = {}

    def is_of_same_run(self, other: Claims | None) -> bool:
        """Are both of one run?"""
        return self._run is not None and other is not None and self._run is other._run

    def begin(
        self, number: int, provider: Any, taken: StoredAttributes, method: str, config: Any, ended: Callable[[], object]
    ) -> tuple[Any, Callable[[], object]]:
        """Before a call: the object whose method is called, and what is to be done when it has ended. Raises
        `ProviderInUse` where this run cannot have a configured object."""
        claim = self._claims.get(number)
        if claim is None:
            if method != "configure":
                return provider, ended
            claim = self._claim(number, provider, taken)
        called, origin, is_copy = claim
        if is_copy:
            return called, ended
        with _lock:
            if method == "configure":
                origin.configures_again(self, called)
            origin.call_begins()
            before = _state_of(called) if method == "configure" else None

        def done() -> None:
            ended()
            with _lock:
                if before is not None:
                    origin.note_configured(self, called, before, config)
                origin.call_ended(called)

        return called, done

    def evict(self, provider: Any) -> None:
        """Has whoever made a pause with a configured object let go of it."""
        with _lock:
            origin = _origins.get(provider)
            owner = None if origin is None else origin.paused
        if owner is not None and owner is not self and owner.on_taken is not None:
            owner.on_taken()

    def _claim(self, number: int, provider: Any, taken: StoredAttributes) -> _Claim:
        self.evict(provider)
        with _lock:
            origin = _origin_of(provider, taken)
            if origin.hold(self, provider):
                claim = self._claims[number] = _Claim(provider, origin, False)
                return claim
            user = origin.user_for(self)
        # User code, which may use maloko itself.
        made = factory_made(provider, origin.taken)
        if made is not None and made is not provider:
            with _lock:
                own = _origin_of(made, origin.taken)
                if own.hold(self, made):
                    claim = self._claims[number] = _Claim(made, own, False)
                    return claim
            raise ProviderInUse.of(
                provider, "the factory that is registered for it gives the same object to several runs", user
            )
        try:
            copied = copy_for_run(provider, origin.values, origin.contents)
        except ProviderInUse as refused:
            raise ProviderInUse.of(provider, str(refused), user) from None
        claim = self._claims[number] = _Claim(copied, origin, True)
        return claim

    def is_configured(self, number: int) -> bool:
        """Is the object of that number still as this run has configured it?"""
        with _lock:
            claim = self._claims.get(number)
            return claim is not None and (claim.is_copy or claim.origin.is_configured_by(self))

    def pause(self) -> None:
        """Nothing is called for a while: others may take what it holds, and configure it for themselves."""
        with _lock:
            for claim in self._claims.values():
                if not claim.is_copy:
                    claim.origin.release(claim.called)

    def resume(self, number: int) -> None:
        """Goes on after a pause; what others hold meanwhile is no longer this run's."""
        with _lock:
            claim = self._claims.get(number)
            if claim is not None and not claim.is_copy and not claim.origin.hold(self, claim.called):
                del self._claims[number]

    def release(self) -> None:
        """The run is over: what it held is free, as soon as no method of it goes on any more."""
        with _lock:
            self.pause()
            for claim in self._claims.values():
                claim.origin.forget_configured(self)
            self._claims = {}


class ClaimsOfRun:
    """The provider objects that one run has configured: each configuration has an object of its own."""

    def __init__(self) -> None:
        self._by_configuration: dict[int, Claims] = {}

    def of(self, configuration: int) -> Claims:
        """What the configuration of that number has configured."""
        # One operation of a dict, so that threads need no lock.
        return self._by_configuration.setdefault(configuration, Claims(run=self))

    def release(self) -> None:
        """The run is over."""
        for claims in self._by_configuration.values():
            claims.release()

    def leave_to_parent(self) -> None:
        """In a process that was forked off: nothing is held here."""
        _renew()
        self._by_configuration = {}


def _state_of(provider: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    values = values_of(provider)
    return values, _contents(values)


def _contents(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: copy_of(value)
        for name, value in values.items()
        if type(value) in (list, dict) and not_plain(value, 0) is None
    }


def _inherited(provider: Any, name: str) -> Any:
    """What an object has of its class where it has nothing of its own: no method, and nothing else that makes it."""
    value = inspect.getattr_static(type(provider), name, None)
    return None if hasattr(type(value), "__get__") else value


def _note(changes: dict[str, Change], name: str, change: Change) -> None:
    """Of several changes, what was there before the first one counts."""
    first = changes.get(name, change)
    changes[name] = Change(first.before, change.after)


def _restore(provider: Any, name: str, before: Any) -> None:
    try:
        if before is _MISSING:
            object.__delattr__(provider, name)
        else:
            object.__setattr__(provider, name, before)
    except AttributeError:  # it is gone already, or cannot be set
        return


def _restore_inside(container: Any, before: Any, after: Any) -> None:
    """Takes out of a dict or list what `configure` has put into it, and leaves what others have done."""
    if type(container) is dict and type(before) is dict and type(after) is dict:
        for key in {**before, **after}:
            old, new = before.get(key, _MISSING), after.get(key, _MISSING)
            if old != new and container.get(key, _MISSING) == new:
                container.pop(key, None)
                if old is not _MISSING:
                    container[key] = old
    elif type(container) is list and type(before) is list and type(after) is list:
        first, last = len(before), len(after)
        if after[:first] == before and container[first:last] == after[first:]:
            del container[first:last]
        elif container == after:
            container[:] = before


def _is_count(before: Any, after: Any) -> bool:
    """Was it counted up? Counters of tests go on from run to run."""
    return type(before) is int and type(after) is int and after == before + 1


def _is_log(before: Any, after: Any, config: Any) -> bool:
    """Were only words added to a list that say nothing of the configuration? They are notes of a test."""
    if type(after) is not list or after[: len(before)] != before:
        return False
    values = [str(value) for value in (config if isinstance(config, dict) else {}).values() if value]
    added = repr(after[len(before) :])
    return all(type(item) is str for item in after[len(before) :]) and not any(
        value in added if len(value) > 3 else value in after[len(before) :] for value in values
    )
