from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["VERSION", "CallFailure", "Cause", "CheckAnswer", "Completion", "CreateAnswer", "DiffAnswer", "EmptyAnswer", "Engine", "LawTrial", "LibraryRun", "LifeTrial", "PartialCallFailure", "PluginLife", "PluginTrial", "PluginUnderTest", "Pool", "ReadAnswer", "RejectedInput", "SerializedObject", "StackTask", "TestRun", "TestStack", "UnusableAnswer", "UpdateAnswer", "borrow_terminal", "cli_main", "converted", "fleet_page", "fleet_place", "fleet_plan", "fleet_text", "give_back_terminal", "kit_answer", "law_text", "lends_terminal", "page_of_record", "require_main_interpreter"]

VERSION: Final[str]
"""
The version of the package.
"""

@final
class CallFailure:
    """
    A call, or a look for an object, ended with an exception.
    """
    def __new__(cls, /, cause: "Cause", message: "str", traceback: "str", error: "BaseException", transient: "bool" = False, retry_after: "float | None" = None) -> CallFailure: ...
    @property
    def cause(self, /) -> Cause:
        """
        Why.
        """
    @property
    def error(self, /) -> Any:
        """
        The exception.
        """
    @property
    def message(self, /) -> str:
        """
        What it says.
        """
    @property
    def retry_after(self, /) -> float | None:
        """
        After so many seconds, where that is known.
        """
    @property
    def traceback(self, /) -> str:
        """
        Its traceback, without our own frames.
        """
    @property
    def transient(self, /) -> bool:
        """
        May it pass, as the provider says?
        """

@final
class Cause:
    """
    Why there is no answer but an exception.
    """
    Interrupted: Final[Cause]
    """
    The call was cancelled, and ended by that.
    """
    Raised: Final[Cause]
    """
    User code raised it.
    """
    Refused: Final[Cause]
    """
    Nothing was called: the run can have no object of its own.
    """
    Unloadable: Final[Cause]
    """
    The module of the provider could not be loaded.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __int__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...

@final
class CheckAnswer:
    """
    `check` answered.
    """
    def __new__(cls, /, inputs: "object", failures: "list[RejectedInput]") -> CheckAnswer: ...
    @property
    def failures(self, /) -> list[RejectedInput]:
        """
        What is wrong with the inputs: the property and the reason of each.
        """
    @property
    def inputs(self, /) -> Any:
        """
        What the resource is made of; `None` where there are failures only.
        """

@final
class Completion:
    """
    Takes the answer of a call that could not answer at once.
    """
    def __call__(self, /, answer: Any) -> None:
        """
        Delivers the answer. The first one counts.
        """
    def on_abandon(self, /, callback: Any) -> None:
        """
        Takes what is to be called when nobody waits for the answer any more.
        """

@final
class CreateAnswer:
    """
    `create` answered.
    """
    def __new__(cls, /, id: "str", outs: "object") -> CreateAnswer: ...
    @property
    def id(self, /) -> str:
        """
        The object's id.
        """
    @property
    def outs(self, /) -> Any:
        """
        Its outputs, as the method returned them.
        """

@final
class DiffAnswer:
    """
    `diff` answered.
    """
    def __new__(cls, /, changes: bool | None, replaces: SupportsGetItem[int, str], stables: SupportsGetItem[int, str], delete_before_replace: bool | None) -> DiffAnswer: ...
    @property
    def changes(self, /) -> bool | None:
        """
        Is anything to be done? `None`: the engine is to compare.
        """
    @property
    def delete_before_replace(self, /) -> bool | None:
        """
        Is the old object to go before the new one is made?
        """
    @property
    def replaces(self, /) -> list[str]:
        """
        The properties whose change replaces the object.
        """
    @property
    def stables(self, /) -> list[str]:
        """
        The outputs that stay as they are.
        """

@final
class EmptyAnswer:
    """
    `configure`, `delete` or `close` came to its end.
    """
    def __new__(cls, /) -> EmptyAnswer: ...

@final
class Engine:
    """
    One operation on one stack, for the monitor and engine objects that the SDK is given.
    """
    def begin(self, /, method: "str", request: "bytes", context: "object", complete: "object") -> "bytes | tuple[int, str] | None":
        """
        Sends a request from the program's event loop, which it never blocks. The answer is returned as `rpc` does, or
        `None` when it takes longer; then `complete` is called with it, from another thread.
        """
    def config(self, /) -> "tuple[dict[str, str], list[str]]":
        """
        The configuration by full key, decrypted, and the keys that are secret.
        """
    @property
    def dry_run(self, /) -> bool:
        """
        Is it a preview?
        """
    def go_on(self, /) -> None:
        """
        Has what `begin` began go on. Called when the program's event loop has nothing else to do.
        """
    def log(self, /, urn: str, severity: SupportsIndex, message: str, ephemeral: bool = False) -> None:
        """
        Passes a message on; severities are those of the engine service (0 debug, 1 info, 2 warning, 3 error), and 4
        for printed output.
        """
    def note_undeclared(self, /, urn: str, class_name: str, outputs: "list[str]") -> None:
        """
        Takes note of outputs that a provider returned for the first resource of a class, and the class does not declare.
        """
    def note_used_key(self, /, urn: str) -> None:
        """
        Takes note that the code of a create asked for its operation key.
        """
    @property
    def organization(self, /) -> str:
        """
        The organization's name.
        """
    @property
    def parallel(self, /) -> int:
        """
        Provider operations at a time.
        """
    @property
    def project(self, /) -> str:
        """
        The project's name.
        """
    @property
    def project_root(self, /) -> str:
        """
        The directory of Pulumi.yaml.
        """
    def refuse_deletion(self, /, urn: str, reason: str) -> None:
        """
        Keeps a resource from being deleted for the only reason that this run did not register it; the run fails with
        that reason if it would be.
        """
    def rpc(self, /, method: "str", request: "bytes") -> "bytes | tuple[int, str]":
        """
        Sends a request and blocks this thread until it is answered. The answer is bytes, or a gRPC status code with
        a message.
        """
    @property
    def stack(self, /) -> str:
        """
        The stack's short name.
        """
    def when_stopped(self, /, notify: "object") -> None:
        """
        Calls `notify` from another thread once the run cannot go on.
        """

@final
class LawTrial:
    """
    One example of a law: it says what the kit is to do, and takes the answer.
    """
    def __new__(cls, /, law: str, subject: str) -> LawTrial:
        """
        Begins an example of a law (`L5`). `subject` is what is known of the provider (JSON, `maloko_kit::Subject`). Raises
        `ValueError` for a law that it does not know.
        """
    def hide(self, /, text: str) -> str:
        """
        A text, such as the message of an error, without what is secret.
        """
    def next(self, /, answer: str) -> str:
        """
        What is to be done next (JSON, `maloko_kit::Request`), after the answer to what was to be done before; at first,
        that is `null`. Raises `ValueError` for an answer that is none.
        """
    def shown(self, /) -> str:
        """
        The inputs that the example has tried last, for a report (JSON, a list of `maloko_kit::ShownInputs`).
        """

@final
class LibraryRun:
    """
    One run of the command line.
    """
    def __new__(cls, /, arguments: "list[str]", directory: str | PathLike[str], variables: "dict[str, str]", out: "object", err: "object", event: "object | None" = None, progress: "object | None" = None, every: "float" = 2.5, messages_alone: "bool" = False) -> LibraryRun:
        """
        A run of these arguments. `directory` is absolute; `variables` stand for the environment; `out` and `err` take
        bytes, `event` the JSON of an engine event (with `messages_alone` of those that have a message), `progress` that of a report
        of progress, one after `every` seconds at most, each from a thread of the engine.
        """
    def cancel(self, /) -> None:
        """
        Asks the run to end: nothing new begins, what is in flight is waited for.
        """
    def progress(self, /) -> str:
        """
        A report of progress as JSON, from any thread.
        """
    def run(self, /, language_host: "object", host: "object") -> "tuple[int, str, tuple[str, dict[str, int], bool, str | None, BaseException | None, str | None, str | None, tuple[list[str], list[str], list[str], str | None]] | None, str | None]":
        """
        Runs to the end on this thread, on which no event loop may be running, and gives the exit code, the last message
        and, for an operation that has begun, its outcome; last, where it failed, why, as JSON. `language_host` is a `maloko._command_line.language_host.LanguageHost` or its like, `host` a
        `maloko._run.host.Host`. A signal that Python's handlers turn into an exception cancels the run, which is awaited all
        the same; then the exception is raised.
        """

@final
class LifeTrial:
    """
    A lifecycle of a provider: it says what the kit is to do for a step, and takes the answers.
    """
    def __new__(cls, /, subject: str) -> LifeTrial:
        """
        Begins with an empty program. `subject` is what is known of the provider (JSON, `maloko_kit::LifeSubject`). Raises
        `ValueError` for rules that cannot be left out.
        """
    def broken_text(self, /, words: str, story: str, again: str) -> str:
        """
        What went wrong (JSON, `maloko_kit::Words`), with the steps as a test. `again`: what runs it again, or nothing.
        """
    def end(self, /) -> None:
        """
        Begins the end. Raises `ValueError` while a step goes on.
        """
    def hide(self, /, text: str) -> str:
        """
        A text, such as the message of an error, without what is secret in the steps so far.
        """
    def hide_inputs(self, /, inputs: str) -> str:
        """
        Inputs (JSON) without what is secret, as a step is to be written with them.
        """
    def next(self, /, answer: str) -> str:
        """
        What is to be done next (JSON, `maloko_kit::LifeRequest`), after the answer to what was to be done before; at first, that
        is `null`. Raises `ValueError` for an answer that is none.
        """
    def possible(self, /) -> str:
        """
        The rules that can be followed just now, each with the names of the resources that it can be about (JSON).
        """
    def refusal(self, /, step: str, story: str) -> str | None:
        """
        Why this cannot be the next step (JSON, as in a story), in words; `None` when it can. `story` says how steps are written
        (JSON, `maloko_kit::Story`).
        """
    def story(self, /, story: str) -> str:
        """
        The steps so far as a test.
        """
    def take(self, /, step: str) -> None:
        """
        Begins a step. Raises `ValueError` for one that cannot be the next.
        """

@final
class PartialCallFailure:
    """
    A call raised `PartialFailure`: the object is there, and not as it should be.
    """
    def __new__(cls, /, failure: "CallFailure", id: "str", outs: "object", reasons: "list[str]") -> PartialCallFailure: ...
    @property
    def failure(self, /) -> CallFailure:
        """
        How it failed.
        """
    @property
    def id(self, /) -> str:
        """
        The object's id.
        """
    @property
    def outs(self, /) -> Any:
        """
        Its outputs so far.
        """
    @property
    def reasons(self, /) -> list[str]:
        """
        What is left to do, in words.
        """

@final
class PluginLife:
    """
    A lifecycle of a plugin's resources: it does what steps ask for, apart from what they ask of the world.
    """
    def answer(self, /, request: str) -> str:
        """
        Does what a step asks for (JSON, `maloko_kit::PluginLife::answer`), and gives the answer to it. Raises `ValueError` for a
        request that is none.
        """
    def close(self, /) -> None:
        """
        Deletes what is left, and ends the processes that it has started.
        """

@final
class PluginTrial:
    """
    One example of a law for a plugin: it asks for the world alone.
    """
    def next(self, /, answer: str) -> str:
        """
        What is to be done next (JSON, `maloko_kit::PluginTrial::next`), after the answer to what was to be done before; at
        first, that is `null`. Raises `ValueError` for an answer that is none.
        """

@final
class PluginUnderTest:
    """
    A plugin that is judged.
    """
    def __new__(cls, /, directory: str | PathLike[str], plugin: str, setup: str) -> PluginUnderTest:
        """
        A plugin by the name of its package, its executable or its folder; empty: of the type's package. `setup` is JSON
        (`maloko_kit::PluginSetup`). Nothing is started yet. Raises `ValueError` for what is no plugin or no type.
        """
    def close(self, /) -> None:
        """
        Ends its process.
        """
    def life(self, /) -> PluginLife:
        """
        Begins a lifecycle of its resources, with an empty stack.
        """
    def prepare(self, /) -> None:
        """
        Starts and configures it. Raises `RuntimeError` when that fails.
        """
    def trial(self, /, law: str, subject: str) -> PluginTrial:
        """
        Begins an example of a law (`L5`). `subject` is what is known of the plugin (JSON, `maloko_kit::Subject`). Raises
        `ValueError` for a law that it does not know.
        """

@final
class Pool:
    """
    The threads of a run, for those who start them.
    """
    def close(self, /) -> None:
        """
        Lets the workers go once nothing is left to do.
        """
    def work(self, /) -> None:
        """
        Polls the engine's tasks on this thread until the pool is closed.
        """

@final
class ReadAnswer:
    """
    `read` or `find` answered.
    """
    def __new__(cls, /, id: "str", outs: "object | None", inputs: "object | None") -> ReadAnswer: ...
    @property
    def id(self, /) -> str:
        """
        The object's id; empty where there is no object.
        """
    @property
    def inputs(self, /) -> Any | None:
        """
        Its inputs, where the method says them.
        """
    @property
    def outs(self, /) -> Any | None:
        """
        Its outputs, as the method returned them.
        """

@final
class RejectedInput:
    """
    One input that `check` does not accept.
    """
    def __new__(cls, /, name: str, reason: str) -> RejectedInput: ...
    @property
    def name(self, /) -> str:
        """
        The property's name; empty where it is about all of them.
        """
    @property
    def reason(self, /) -> str:
        """
        What is wrong with it.
        """

@final
class SerializedObject:
    """
    An object as the SDK itself would have stored it.
    """
    def __new__(cls, /, text: str, secret: bool) -> SerializedObject: ...
    @property
    def secret(self, /) -> bool:
        """
        Is it to be a secret?
        """
    @property
    def text(self, /) -> str:
        """
        The text.
        """

@final
class StackTask:
    """
    What a test has its stack do in several operations: it says what the kit is to run, and takes the answers.
    """
    def next(self, /, answer: str) -> str:
        """
        What is to be done next (JSON, `maloko_kit::TaskRequest`), after the answer to what was to be done before; at first, that
        is `null`. Raises `RuntimeError` for an answer that is none, and for a state that cannot be read or written.
        """

@final
class TestRun:
    """
    One operation on a stack in memory.
    """
    def cancel(self, /) -> None:
        """
        Ends the operation as Ctrl-C does: nothing new is begun.
        """
    @property
    def engine(self, /) -> Engine:
        """
        The engine, for the program.
        """
    def finish(self, /, error: str | None = None, exception: Any | None = None) -> "tuple[str, BaseException | None]":
        """
        Ends the operation once the program has ended; `error` and `exception` say how it failed. Gives the report as
        JSON (`engine-kit/src/report.rs`), and the exception that was raised first.
        """

@final
class TestStack:
    """
    A stack in memory.
    """
    def __new__(cls, /, project: str = "project", stack: str = "dev") -> TestStack:
        """
        An empty stack. Raises `ValueError` for names that no stack can have.
        """
    def advance(self, /, seconds: SupportsFloat | SupportsIndex) -> None:
        """
        Lets the stack's clock go on by so many seconds.
        """
    def answer(self, /, request: str) -> str:
        """
        Answers what a law or a lifecycle asks of the stack (JSON, `engine-kit/src/stack/requests.rs`) with JSON. Raises
        `RuntimeError` for what cannot be read, and for a state that cannot be read or written.
        """
    def begin(self, /, host: Any, order: str) -> TestRun:
        """
        Begins an operation. `host` is a `maloko._run.host.Host`, `order` JSON (`engine-kit/src/run_request.rs`). Raises
        `ValueError` for an order that cannot be understood, `MalokoError` for one that makes no sense, and `RuntimeError` for a
        state that cannot be opened.
        """
    @property
    def elapsed(self, /) -> float:
        """
        The seconds that have passed on the stack's clock.
        """
    def export(self, /) -> str:
        """
        The state as Pulumi's deployment JSON, with secrets in plain text.
        """
    def history(self, /, name: str) -> str:
        """
        What a resource was in the course of the test as JSON: `{"ids", "actions", "outputs"}`.
        """
    @staticmethod
    def open(directory: str | PathLike[str], project: str, stack: str) -> TestStack:
        """
        A stack in a directory, which outlives the process; made when it is not there yet. Raises `RuntimeError` for a
        directory that cannot be used.
        """
    def resources(self, /) -> str:
        """
        What is in the state as JSON, with secrets in plain text: `{"resources": [...], "unresolvedCreates": [...]}`, where an
        unresolved create is `{"urn", "reason"}`.
        """
    def restore(self, /, deployment: bytes, place: str) -> None:
        """
        Replaces the state by an exported one (JSON); `place` names it in errors.
        """
    def stored(self, /) -> "tuple[bytes, bytes | None]":
        """
        What lies in the store: the checkpoint, and the journal that a run left which did not come to its end.
        """
    def task(self, /, task: str) -> StackTask:
        """
        Begins a task (JSON, `engine-kit/src/task`). Raises `ValueError` for one that cannot be read.
        """

@final
class UnusableAnswer:
    """
    A method returned what cannot be used.
    """
    def __new__(cls, /, message: "str", returned: "str | None" = None, id: "str" = ...) -> UnusableAnswer: ...
    @property
    def id(self, /) -> str:
        """
        For a `create`: the id that seems to be in what it returned; empty when there is none.
        """
    @property
    def message(self, /) -> str:
        """
        What is wrong with it.
        """
    @property
    def returned(self, /) -> str | None:
        """
        For a `create`, whose object is there all the same: what it returned.
        """

@final
class UpdateAnswer:
    """
    `update` answered.
    """
    def __new__(cls, /, outs: "object") -> UpdateAnswer: ...
    @property
    def outs(self, /) -> Any:
        """
        The object's outputs, as the method returned them.
        """

def borrow_terminal(debugger: bool) -> bool:
    """
    Gives the terminal to the program, with descriptors 1 and 2, until it is given back; the display stands back. While
    a debugger has it, Ctrl-C is the debugger's. `False`: there is none to be had.
    """

def cli_main(arguments: "list[str]", language_host: "object", host: "object") -> "int":
    """
    Runs the command line with these arguments (without the program's name) and returns its exit code.
    """

def converted(properties: "object", what: "str") -> "dict[str, Any]":
    """
    Properties as they come back from the engine, in a provider's method, when they go in like that. Raises `ValueError`
    for what the engine refuses; `what` names the properties in it.
    """

def fleet_page(document: str) -> str:
    """
    The page (HTML) of a fleet's run, from its document (JSON). Raises `ValueError` for what is none.
    """

def fleet_place(source: str) -> str:
    """
    The name of a fleet and its server, as JSON: `{"name", "engine"}`. `source` as for `fleet_plan`. Raises `MalokoError` with the
    place of what is wrong.
    """

def fleet_plan(source: str, request: str) -> str:
    """
    The plan (JSON) of a run that a request (JSON) asks for. `source` is the path of a fleet file, or a document (JSON) that code
    has made. Raises `MalokoError` with the place of what is wrong.
    """

def fleet_text(kind: str, document: str, columns: SupportsIndex) -> str:
    """
    The text that people see of a document (JSON) of a kind: `progress`, `results`, `stacks`, `runs` or `past`. No line is wider than so
    many columns; 0 for any width. Raises `MalokoError` for what cannot be read.
    """

def give_back_terminal(debugger: bool) -> None:
    """
    Ends what `borrow_terminal` began.
    """

def kit_answer(question: str) -> str:
    """
    Answers a question of the kit (JSON, `maloko_kit::answer`) with JSON. Raises `ValueError` for one that cannot be read.
    """

def law_text(law: str, title: str, provider: str, result: str) -> str:
    """
    The result of a law (JSON, `maloko_kit::LawResult`) in words.
    """

def lends_terminal() -> bool:
    """
    Can the terminal be borrowed: does an operation of this process have one?
    """

def page_of_record(record: str) -> str:
    """
    The page (HTML) of what was recorded of a run: `page` of a report, and of what `LibraryRun.run` gives. Raises `ValueError`
    for what is no record.
    """

def require_main_interpreter() -> None:
    """
    Refuses sub-interpreters with an `ImportError`: objects of one would be called in another.
    """
