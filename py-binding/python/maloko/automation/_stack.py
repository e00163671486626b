"""Stacks: operations, with the arguments and results of the official API."""

from __future__ import annotations

import json as json_module
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pulumi import automation as official
from pulumi.automation import OnEvent, OnOutput, OpMap, PulumiFn, UpdateSummary, Workspace
from pulumi.automation._stack import ImportResource, StackInitMode

from maloko.automation import _running
from maloko.automation._flags import flags
from maloko.automation._operate import operate
from maloko.automation._progress import EVERY, OnProgress, Progress
from maloko.automation._results import (
    DestroyResult,
    ImportResult,
    PreviewResult,
    RefreshResult,
    RenameResult,
    UpResult,
    with_page,
)
from maloko.automation._threads import twin
from maloko.automation._workspace import LocalWorkspace
from maloko.automation.errors import StackAlreadyExistsError, UnsupportedError


class Stack(official.Stack):
    """A stack of a workspace's project.

    Operations of an inline program run it in this process, on the thread that calls (on one of their own where that
    has a running event loop); those of a local program run it in a process of its own. Several stacks may be worked on
    at the same time.

    Each method that blocks has an `await` form: its name with `_async` at the end. Where a task that awaits one is
    cancelled, the operation is cancelled with it, and ends in order first.
    """

    workspace: LocalWorkspace

    def __init__(self, name: str, workspace: Workspace, mode: StackInitMode) -> None:
        if not isinstance(workspace, LocalWorkspace):
            raise TypeError("workspace must be a maloko.automation.LocalWorkspace")
        super().__init__(name, workspace, mode)

    @classmethod
    def create(cls, stack_name: str, workspace: Workspace) -> Stack:
        """Makes a stack of that name.

        :raises StackAlreadyExistsError: when there is one
        """
        return cls(stack_name, workspace, StackInitMode.CREATE)

    @classmethod
    def select(cls, stack_name: str, workspace: Workspace) -> Stack:
        """The stack of that name.

        :raises StackNotFoundError: when there is none
        """
        return cls(stack_name, workspace, StackInitMode.SELECT)

    @classmethod
    def create_or_select(cls, stack_name: str, workspace: Workspace) -> Stack:
        """The stack of that name, which is made where there is none."""
        try:
            return cls(stack_name, workspace, StackInitMode.CREATE_OR_SELECT)
        except StackAlreadyExistsError:
            # Somebody else made it meanwhile.
            return cls.select(stack_name, workspace)

    # Operations.

    def up(
        self,
        parallel: int | None = None,
        message: str | None = None,
        target: list[str] | None = None,
        exclude: list[str] | None = None,
        policy_packs: list[str] | None = None,
        policy_pack_configs: list[str] | None = None,
        expect_no_changes: bool | None = None,
        diff: bool | None = None,
        target_dependents: bool | None = None,
        exclude_dependents: bool | None = None,
        replace: list[str] | None = None,
        color: str | None = None,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        program: PulumiFn | None = None,
        plan: str | None = None,
        show_secrets: bool = True,
        log_flow: bool | None = None,
        log_verbosity: int | None = None,
        log_to_std_err: bool | None = None,
        tracing: str | None = None,
        debug: bool | None = None,
        suppress_outputs: bool | None = None,
        suppress_progress: bool | None = None,
        continue_on_error: bool | None = None,
        attach_debugger: bool | None = None,
        refresh: bool | None = None,
        config_file: str | None = None,
        run_program: bool | None = None,
        refuse_import_differences: bool | None = None,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        lock_timeout: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
        outputs: bool = True,
        summary: bool = True,
    ) -> UpResult:
        """Makes the resources as the program says.

        :param parallel: provider calls at a time
        :param target: URNs of the only resources to work on; `exclude`: of those to leave alone
        :param replace: URNs of resources to replace
        :param on_output: is called with each line of the display, on a thread of its own
        :param on_event: is called with each event, on the same thread
        :param program: the program of this operation, in place of the workspace's
        :param plan: a file with the update plan to keep to
        :param show_secrets: whether the configuration in the summary has secrets in plain text
        :param config_file: the stack's settings file for this operation
        :param refuse_import_differences: fail when an object of the option `import_` is not as the program says, in
            place of updating it
        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, on the same thread: `progress_every` seconds after
            the last time, and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :param lock_timeout: how long to wait for a stack that somebody else works on, such as `5m`
        :param page: a file that shows the run in a browser, while it goes on and afterwards
        :param outputs: whether the result has the outputs, which takes a command of its own
        :param summary: whether the result has the summary, which takes another one; without it, that is `None`
        :raises CommandError: when the operation fails; its `__cause__` is what the program or a provider raised
        :raises UnsupportedError: for an argument that only the `pulumi` command line knows
        """
        given = locals()
        if given.pop("run_program") is False:
            raise UnsupportedError("run_program: an update without the program would delete every resource")
        done = operate(self, self.workspace, ["up", "--yes", "--skip-preview"], given)
        found = self.outputs() if outputs else {}
        return with_page(UpResult(done.stdout, done.stderr, self._summary(show_secrets, summary), found), done)

    def preview(
        self,
        parallel: int | None = None,
        message: str | None = None,
        target: list[str] | None = None,
        exclude: list[str] | None = None,
        policy_packs: list[str] | None = None,
        policy_pack_configs: list[str] | None = None,
        expect_no_changes: bool | None = None,
        diff: bool | None = None,
        target_dependents: bool | None = None,
        exclude_dependents: bool | None = None,
        replace: list[str] | None = None,
        color: str | None = None,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        program: PulumiFn | None = None,
        plan: str | None = None,
        log_flow: bool | None = None,
        log_verbosity: int | None = None,
        log_to_std_err: bool | None = None,
        tracing: str | None = None,
        debug: bool | None = None,
        suppress_outputs: bool | None = None,
        suppress_progress: bool | None = None,
        import_file: str | None = None,
        attach_debugger: bool | None = None,
        refresh: bool | None = None,
        config_file: str | None = None,
        run_program: bool | None = None,
        json: bool | None = None,
        refuse_import_differences: bool | None = None,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
    ) -> PreviewResult:
        """Says what `up` would do. The arguments are those of `up`, and

        :param plan: a file to which the update plan is written
        :param import_file: a file to which a list of the resources to be created is written, for `import_resources`
        :param json: whether stdout is one JSON document
        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, every `progress_every` seconds and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :raises CommandError: when the preview fails
        """
        given = locals()
        if given.pop("run_program") is False:
            raise UnsupportedError("run_program: a preview of an update needs the program")
        given["save_plan"] = given.pop("plan")
        return self._previewed(["preview"], given)

    def refresh(
        self,
        parallel: int | None = None,
        message: str | None = None,
        preview_only: bool | None = None,
        target: list[str] | None = None,
        exclude: list[str] | None = None,
        target_dependents: bool | None = None,
        exclude_dependents: bool | None = None,
        expect_no_changes: bool | None = None,
        clear_pending_creates: bool | None = None,
        color: str | None = None,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        show_secrets: bool = True,
        log_flow: bool | None = None,
        log_verbosity: int | None = None,
        log_to_std_err: bool | None = None,
        tracing: str | None = None,
        debug: bool | None = None,
        suppress_outputs: bool | None = None,
        suppress_progress: bool | None = None,
        run_program: bool | None = None,
        config_file: str | None = None,
        program: PulumiFn | None = None,
        diff: bool | None = None,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        lock_timeout: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
        summary: bool = True,
    ) -> RefreshResult:
        """Makes the state as the real resources are.

        :param preview_only: only say what differs; `preview_refresh` has the better result
        :param clear_pending_creates: forget creates whose outcome is not known
        :param page: a file that shows the run in a browser
        :param run_program: whether the program runs first, for its live providers; it does when not given
        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, every `progress_every` seconds and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :param lock_timeout: how long to wait for a stack that somebody else works on, such as `5m`
        :param summary: whether the result has the summary, which takes a command of its own; without it, that is `None`
        :raises CommandError: when the operation fails
        """
        done = operate(self, self.workspace, ["refresh", *_confirmed(preview_only)], locals())
        return with_page(RefreshResult(done.stdout, done.stderr, self._summary(show_secrets, summary)), done)

    def preview_refresh(
        self,
        parallel: int | None = None,
        message: str | None = None,
        target: list[str] | None = None,
        exclude: list[str] | None = None,
        target_dependents: bool | None = None,
        exclude_dependents: bool | None = None,
        expect_no_changes: bool | None = None,
        clear_pending_creates: bool | None = None,
        color: str | None = None,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        show_secrets: bool = True,
        log_flow: bool | None = None,
        log_verbosity: int | None = None,
        log_to_std_err: bool | None = None,
        tracing: str | None = None,
        debug: bool | None = None,
        suppress_outputs: bool | None = None,
        suppress_progress: bool | None = None,
        run_program: bool | None = None,
        config_file: str | None = None,
        program: PulumiFn | None = None,
        diff: bool | None = None,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
    ) -> PreviewResult:
        """Says what `refresh` would change in the state.

        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, every `progress_every` seconds and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :raises CommandError: when the preview fails
        """
        return self._previewed(["refresh", "--preview-only"], locals())

    def destroy(
        self,
        parallel: int | None = None,
        message: str | None = None,
        target: list[str] | None = None,
        target_dependents: bool | None = None,
        color: str | None = None,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        show_secrets: bool = True,
        log_flow: bool | None = None,
        log_verbosity: int | None = None,
        log_to_std_err: bool | None = None,
        tracing: str | None = None,
        exclude_protected: bool | None = None,
        debug: bool | None = None,
        suppress_outputs: bool | None = None,
        suppress_progress: bool | None = None,
        continue_on_error: bool | None = None,
        remove: bool | None = None,
        refresh: bool | None = None,
        preview_only: bool | None = None,
        run_program: bool | None = None,
        config_file: str | None = None,
        program: PulumiFn | None = None,
        diff: bool | None = None,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        lock_timeout: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
        summary: bool = True,
    ) -> DestroyResult:
        """Deletes every resource of the stack; the program runs first, for its live providers.

        :param exclude_protected: whether protected resources stay, with all that they depend on
        :param remove: whether the empty stack is removed, too, with its settings file
        :param preview_only: only say what would be deleted; `preview_destroy` has the better result
        :param page: a file that shows the run in a browser
        :param run_program: whether the program runs first; it does when not given
        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, every `progress_every` seconds and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :param lock_timeout: how long to wait for a stack that somebody else works on, such as `5m`
        :param summary: whether the result has the summary, which takes a command of its own; without it, that is `None`
        :raises CommandError: when the operation fails
        """
        done = operate(self, self.workspace, ["destroy", *_confirmed(preview_only)], locals())
        found = self._summary(show_secrets, summary)
        if remove and not preview_only:
            self.workspace.remove_stack(self.name)
        return with_page(DestroyResult(done.stdout, done.stderr, found), done)

    def preview_destroy(
        self,
        parallel: int | None = None,
        message: str | None = None,
        target: list[str] | None = None,
        target_dependents: bool | None = None,
        color: str | None = None,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        on_event: OnEvent | None = None,
        show_secrets: bool = True,
        log_flow: bool | None = None,
        log_verbosity: int | None = None,
        log_to_std_err: bool | None = None,
        tracing: str | None = None,
        exclude_protected: bool | None = None,
        debug: bool | None = None,
        suppress_outputs: bool | None = None,
        suppress_progress: bool | None = None,
        continue_on_error: bool | None = None,
        remove: bool | None = None,
        refresh: bool | None = None,
        run_program: bool | None = None,
        config_file: str | None = None,
        program: PulumiFn | None = None,
        diff: bool | None = None,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
    ) -> PreviewResult:
        """Says what `destroy` would delete.

        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, every `progress_every` seconds and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :raises CommandError: when the preview fails
        """
        return self._previewed(["destroy", "--preview-only"], locals())

    def import_resources(
        self,
        message: str | None = None,
        resources: list[ImportResource] | None = None,
        name_table: dict[str, str] | None = None,
        protect: bool | None = None,
        generate_code: bool | None = None,
        converter: str | None = None,
        converter_args: list[str] | None = None,
        on_output: OnOutput | None = None,
        show_secrets: bool = True,
        isolated: bool | None = None,
        otel_traces: str | None = None,
        page: str | None = None,
        lock_timeout: str | None = None,
        on_progress: OnProgress | None = None,
        progress_every: float = EVERY,
        summary: bool = True,
    ) -> ImportResult:
        """Takes over objects that exist.

        :param resources: type, name and id of each, as in `maloko import --file`
        :param name_table: URNs by the names that `parent` and `provider` of the resources use
        :param protect: whether they are protected from deletion
        :param generate_code: whether the result has code for the program; it has when not given
        :param isolated: whether a local program runs in a process of its own, apart from the engine
        :param on_progress: is told how far the operation has come, every `progress_every` seconds and at its end
        :param otel_traces: the address of an OpenTelemetry collector that takes traces of the operation
        :param lock_timeout: how long to wait for a stack that somebody else works on, such as `5m`
        :param page: a file that shows the run in a browser
        :param summary: whether the result has the summary, which takes a command of its own; without it, that is `None`
        :raises CommandError: when the operation fails
        """
        given = locals()
        arguments = ["import", "--yes", "--skip-preview"]
        if protect is not None:
            arguments.append(f"--protect={str(protect).lower()}")
        with tempfile.TemporaryDirectory(prefix="maloko-import-") as private:
            if resources is not None:
                file = Path(private, "import.json")
                listed = {"nameTable": name_table or {}, "resources": resources}
                file.write_text(json_module.dumps(listed), encoding="utf-8")
                arguments += ["--file", str(file)]
            code = Path(private, "code.txt")
            arguments.append("--generate-code=false" if generate_code is False else f"--out={code}")
            done = operate(self, self.workspace, arguments, given)
            generated = code.read_text(encoding="utf-8") if code.exists() else ""
        return with_page(ImportResult(done.stdout, done.stderr, self._summary(show_secrets, summary), generated), done)

    def rename(
        self,
        stack_name: str,
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
        show_secrets: bool = False,
        lock_timeout: str | None = None,
    ) -> RenameResult:
        """Gives the stack another name, also in this object.

        :param lock_timeout: how long to wait for a stack that somebody else works on, such as `5m`
        :raises CommandError: when there is a stack of that name, or this one is worked on
        """
        workspace, arguments = self.workspace, ["stack", "rename", stack_name, "--stack", self.name]
        arguments += flags({"lock_timeout": lock_timeout})
        result = workspace.command.run(arguments, workspace.work_dir, workspace.variables(), on_output, on_error)
        self.name = stack_name
        return RenameResult(result.stdout, result.stderr, self.info(show_secrets))

    def set_all_config_json(self, config_json: str) -> None:
        """Sets values in the form in which `maloko config --json` prints them.

        :param config_json: an object by key; each member has `value` or `objectValue`, and may have `secret`
        """
        self.workspace.set_all_config_json(self.name, config_json)

    def cancel(self) -> None:
        """Cancels the operations of this process on the stack: nothing new begins, and what is in flight is waited for
        and recorded. Where none goes on, the locks that others hold on the stack are removed, which those notice before
        they write again.
        """
        if not _running.cancel(self):
            self._run_pulumi_cmd_sync(["cancel", "--yes"])

    def progress(self) -> Progress | None:
        """How far the operation of this process on the stack has come; `None` when none goes on. May be called from any
        thread. Of a local program it is what its process reported last, `progress_every` seconds ago at most.
        """
        return _running.progress(self)

    def references(self) -> list[str]:
        """The stacks that the last run of this one read by a `StackReference`, each as `project/stack`, in order.

        It reads the state: the program does not run, and no secret is decrypted.
        """
        done = self._run_pulumi_cmd_sync(["stack", "references", "--json"])
        found: dict[str, list[str]] = json_module.loads(done.stdout)
        return [reference for references in found.values() for reference in references]

    # How they are run.

    def _previewed(self, verb: list[str], given: Mapping[str, Any]) -> PreviewResult:
        done = operate(self, self.workspace, verb, given)
        return with_page(PreviewResult(done.stdout, done.stderr, cast("OpMap", done.changes)), done)

    def _summary(self, show_secrets: bool, wanted: bool) -> UpdateSummary:
        if not wanted:
            # The official class has no word for it.
            return cast("UpdateSummary", None)
        summary = self.info(show_secrets)
        if summary is None:
            raise LookupError(f"the history of the stack '{self.name}' is empty; it was removed meanwhile")
        return summary

    up_async = twin(up)
    preview_async = twin(preview)
    refresh_async = twin(refresh)
    preview_refresh_async = twin(preview_refresh)
    destroy_async = twin(destroy)
    preview_destroy_async = twin(preview_destroy)
    import_resources_async = twin(import_resources)
    rename_async = twin(rename)
    cancel_async = twin(cancel)
    references_async = twin(references)
    outputs_async = twin(official.Stack.outputs)
    history_async = twin(official.Stack.history)
    info_async = twin(official.Stack.info)
    export_stack_async = twin(official.Stack.export_stack)
    import_stack_async = twin(official.Stack.import_stack)
    get_config_async = twin(official.Stack.get_config)
    get_all_config_async = twin(official.Stack.get_all_config)
    set_config_async = twin(official.Stack.set_config)
    set_all_config_async = twin(official.Stack.set_all_config)
    set_all_config_json_async = twin(set_all_config_json)
    remove_config_async = twin(official.Stack.remove_config)
    remove_all_config_async = twin(official.Stack.remove_all_config)
    refresh_config_async = twin(official.Stack.refresh_config)


def _confirmed(preview_only: bool | None) -> list[str]:
    return ["--preview-only"] if preview_only else ["--yes", "--skip-preview"]
