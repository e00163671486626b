"""Workspaces: a project, its settings files, and its stacks."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, cast

from pulumi import automation as official
from pulumi.automation import (
    CommandResult,
    ConfigMap,
    ConfigValue,
    OnOutput,
    ProjectSettings,
    PulumiFn,
    StackSettings,
    StackSummary,
    WhoAmIResult,
)

from maloko._errors import MalokoError
from maloko._sdk.version import sdk_version
from maloko.automation import _settings as settings_files
from maloko.automation._command import CommandRunner, PulumiCommand
from maloko.automation._threads import twin
from maloko.automation.errors import UnsupportedError

_OWN_DIRECTORY = ".maloko"
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


class LocalWorkspace(official.LocalWorkspace):
    """A project on this machine. The settings files are those of the official one, and may be shared with it.

    An inline program without a `work_dir` gets a temporary directory for its settings files, which is removed with the
    workspace; something else has to say where its state is kept.

    Each method that blocks has an `await` form: its name with `_async` at the end.
    """

    def __init__(
        self,
        work_dir: str | None = None,
        pulumi_home: str | None = None,
        program: PulumiFn | None = None,
        env_vars: Mapping[str, str] | None = None,
        secrets_provider: str | None = None,
        project_settings: ProjectSettings | None = None,
        stack_settings: Mapping[str, StackSettings] | None = None,
        pulumi_command: CommandRunner | official.PulumiCommand | None = None,
    ) -> None:
        if getattr(type(pulumi_command), "run", None) is official.PulumiCommand.run:
            raise UnsupportedError(
                "pulumi_command: maloko.automation drives no `pulumi` executable; leave the argument out, make it with "
                "maloko.automation.PulumiCommand, or give an object with a `run` of its own"
            )
        self._selected: str | None = None
        self._is_temporary = work_dir is None
        if work_dir is None:
            work_dir = tempfile.mkdtemp(prefix="automation-")
            self._finalizer = weakref.finalize(self, shutil.rmtree, work_dir, ignore_errors=True)
        super().__init__(
            work_dir=work_dir,
            pulumi_home=pulumi_home,
            program=program,
            env_vars=env_vars,
            secrets_provider=secrets_provider,
            project_settings=project_settings,
            stack_settings=stack_settings,
            pulumi_command=cast("official.PulumiCommand", pulumi_command or PulumiCommand()),
        )

    @property
    def command(self) -> CommandRunner:
        """What runs the workspace's commands."""
        return self.pulumi_command

    @property
    def pulumi_version(self) -> str:  # type: ignore[override]
        """The version of the command; that of the SDK whose behaviour is followed, where it names none."""
        return str(self.command.version or sdk_version())

    def variables(self) -> dict[str, str]:
        """The variables that commands get beside those of the process."""
        home = {} if self.pulumi_home is None else {"PULUMI_HOME": self.pulumi_home}
        return {**home, **self.env_vars}

    def _command(self, arguments: list[str], on_output: OnOutput | None = None) -> CommandResult:
        return self.command.run(arguments, self.work_dir, self.variables(), on_output)

    # Settings files.

    def project_settings(self) -> ProjectSettings:
        """The settings of the project, as the engine reads them."""
        file = settings_files.file_of(self.work_dir, "Pulumi")
        if file is None:
            return super().project_settings()
        return ProjectSettings.from_dict(settings_files.read(file))

    def save_project_settings(self, settings: ProjectSettings) -> None:
        """Writes the settings of the project. Texts stay texts, whatever they look like."""
        settings_files.write(self.work_dir, "Pulumi", settings.to_dict())

    def stack_settings(self, stack_name: str) -> StackSettings:
        """The settings of a stack, as the engine reads them."""
        file = settings_files.file_of(self.work_dir, settings_files.base_of(stack_name))
        if file is None:
            return super().stack_settings(stack_name)
        return settings_files.stack_settings_of(settings_files.read(file))

    def save_stack_settings(self, stack_name: str, settings: StackSettings) -> None:
        """Writes the settings of a stack. Texts stay texts, whatever they look like: `12e5`, `yes`, `0777`."""
        members = settings._serialize()  # type: ignore[no-untyped-call]
        settings_files.write(self.work_dir, settings_files.base_of(stack_name), members)

    # Stacks.

    def create_stack(self, stack_name: str) -> None:
        """Makes a stack; it must not be there yet. Which stack the user has selected on the command line stays.

        :raises StackAlreadyExistsError: when there is one of that name
        """
        if self._is_temporary:
            self._require_place()
        provider = [] if not self.secrets_provider else ["--secrets-provider", self.secrets_provider]
        self._command(["stack", "init", stack_name, "--no-select", *provider])
        self._selected = stack_name

    def _require_place(self) -> None:
        """Refuses state in a temporary directory: nothing would find the stack again, and the next run would make
        everything a second time.
        """
        inside = Path(self.work_dir).resolve() / _OWN_DIRECTORY
        if self.who_am_i().url == f"file://{inside}":
            raise MalokoError(
                f"the state of this stack would be kept in {inside}, a temporary directory that nothing finds again. "
                "Say where it is to be kept: `project_settings=ProjectSettings(..., "
                "backend=ProjectBackend(url='file:///some/directory'))`, PULUMI_BACKEND_URL in `env_vars` or in the "
                "environment, `maloko login`, or a `work_dir` that stays"
            )

    def select_stack(self, stack_name: str) -> None:
        """Makes sure that there is such a stack. Which stack the user has selected on the command line stays.

        :raises StackNotFoundError: when there is none
        """
        self._command(["stack", "select", "--stack", stack_name])
        self._selected = stack_name

    def list_stacks(self, include_all: bool | None = None, prefix: str | None = None) -> list[StackSummary]:
        """The stacks of the project; the current one is the one that was made or selected last with this object.

        :param include_all: also those of other projects in the same backend
        :param prefix: only those whose names begin with this
        """
        arguments = ["stack", "ls", "--json"]
        arguments += ["--all"] if include_all else []
        arguments += [] if prefix is None else [f"--prefix={prefix}"]
        stacks = [_summary_of(told) for told in json.loads(self._command(arguments).stdout)]
        for stack in stacks:
            if self._selected is not None:
                stack.current = stack.name.rsplit("/", 1)[-1] == self._selected.rsplit("/", 1)[-1]
        return stacks

    def stack_references(self, stack_names: Sequence[str]) -> dict[str, list[str]]:
        """Which stacks each of these has read in its last run, all as `project/stack`; none of one that does not exist yet."""
        if not stack_names:
            return {}
        told = json.loads(self._command(["stack", "references", "--json", "--", *stack_names]).stdout)
        return cast("dict[str, list[str]]", told)

    def who_am_i(self) -> WhoAmIResult:
        """The name under which others see what is done, and where the state is kept."""
        told = json.loads(self._command(["whoami", "--json"]).stdout)
        return WhoAmIResult(user=told["user"], url=told.get("url"), organizations=told.get("organizations"))

    # Configuration.

    def set_config(self, stack_name: str, key: str, value: ConfigValue, *, path: bool = False) -> None:
        """Sets a value.

        :raises TypeError: for what is no `ConfigValue` with a text in it
        """
        text = _config_value(key, value).value
        if not isinstance(text, str):
            raise TypeError(
                f"the value of '{key}' is ConfigValue({text!r}), which is no text: write str(...) around it, "
                "or json.dumps(...) for a list or an object"
            )
        super().set_config(stack_name, key, value, path=path)

    def set_all_config(self, stack_name: str, config: ConfigMap, *, path: bool = False) -> None:
        """Sets several values.

        :raises TypeError: for what is no `ConfigValue`
        """
        super().set_all_config(stack_name, {key: _config_value(key, value) for key, value in config.items()}, path=path)

    def set_all_config_json(self, stack_name: str, config_json: str) -> None:
        """Sets values in the form in which `maloko config --json` prints them.

        :param config_json: an object by key; each member has `value` or `objectValue`, and may have `secret`
        :raises ValueError: when it is not of that form; nothing is set then
        """
        members = json.loads(config_json)
        if not isinstance(members, dict):
            raise ValueError("set_all_config_json: the text is no JSON object with configuration by key")
        for key, member in members.items():
            if not isinstance(member, dict) or not ("objectValue" in member or isinstance(member.get("value"), str)):
                raise ValueError(
                    f"set_all_config_json: the key '{key}' has neither `objectValue` nor a `value` that is a text"
                )
        for key, member in members.items():
            secret = bool(member.get("secret"))
            if "objectValue" in member:
                for path, value in _leaves(key, member["objectValue"]):
                    self.set_config(stack_name, path, ConfigValue(value, secret), path=True)
            else:
                self.set_config(stack_name, key, ConfigValue(member["value"], secret))

    def remove_all_config(self, stack_name: str, keys: list[str], *, path: bool = False) -> None:
        """Removes several values."""
        for key in keys:
            self.remove_config(stack_name, key, path=path)

    def refresh_config(self, stack_name: str) -> None:
        """Sets the configuration to that of the stack's last operation.

        :raises CommandError: when nothing was done to the stack so far
        """
        self._command(["config", "refresh", "--force", "--stack", stack_name])

    # Packages and plugins.

    def install(
        self,
        no_plugins: bool = False,
        no_dependencies: bool = False,
        reinstall: bool = False,
        use_language_version_tools: bool = False,
        on_output: OnOutput | None = None,
    ) -> None:
        """Installs the packages that the program needs, with the project's own tool (pip, uv, poetry), and plugins.

        :param no_plugins: install no plugins
        :param no_dependencies: install plugins alone
        :param reinstall: install plugins although they are there
        """
        flags = {
            "--no-plugins": no_plugins,
            "--no-dependencies": no_dependencies,
            "--reinstall": reinstall,
            "--use-language-version-tools": use_language_version_tools,
        }
        self._command(["install", *(flag for flag, given in flags.items() if given)], on_output)

    # What only Pulumi Cloud has.

    def add_environments(self, stack_name: str, *environment_names: str) -> None:
        """:raises UnsupportedError: environments are Pulumi Cloud's"""
        _refuse("add_environments", "environments (ESC) are a service of Pulumi Cloud; set the values with set_config")

    def list_environments(self, stack_name: str) -> list[str]:
        """:raises UnsupportedError: environments are Pulumi Cloud's"""
        _refuse("list_environments", "environments (ESC) are a service of Pulumi Cloud")

    def remove_environment(self, stack_name: str, environment_name: str) -> None:
        """:raises UnsupportedError: environments are Pulumi Cloud's"""
        _refuse("remove_environment", "environments (ESC) are a service of Pulumi Cloud")

    def org_get_default(self) -> str:
        """:raises UnsupportedError: organizations are Pulumi Cloud's"""
        _refuse("org_get_default", "organizations are Pulumi Cloud's")

    def org_set_default(self, org_name: str) -> None:
        """:raises UnsupportedError: organizations are Pulumi Cloud's"""
        _refuse("org_set_default", "organizations are Pulumi Cloud's")

    def new(
        self,
        template_or_url: str | None = None,
        *,
        ai: str | None = None,
        config: list[str] | None = None,
        config_path: bool = False,
        description: str | None = None,
        dir: str | None = None,  # noqa: A002 the official name
        force: bool = False,
        generate_only: bool = False,
        language: str | None = None,
        list_templates: bool = False,
        name: str | None = None,
        offline: bool = False,
        remote_stack_config: bool = False,
        runtime_options: list[str] | None = None,
        secrets_provider: str | None = None,
        stack: str | None = None,
        template_mode: bool = False,
        on_output: OnOutput | None = None,
    ) -> CommandResult:
        """Makes a project, as `maloko new` does: a small one with a dynamic provider, or one from a template folder.

        :param template_or_url: `python`, `typescript`, or a folder with a Pulumi.yaml in it
        :param config: values of the configuration, each as `key=value`
        :param dir: where; the workspace's directory when not given
        :param generate_only: make the files only: no stack, no configuration
        :param secrets_provider: of the first stack, such as `passphrase`, `awskms://...`, `fleet`
        :param stack: the first stack's name; `dev` when not given
        :raises UnsupportedError: for what only Pulumi's own command line has
        """
        unknown = {
            "ai": ai,
            "language": None if language == "python" else language,
            "list_templates": list_templates,
            "remote_stack_config": remote_stack_config,
            "runtime_options": runtime_options,
        }
        given = [name for name, value in unknown.items() if value]
        if given:
            _refuse("new", f"{', '.join(given)}: name `python` or a template folder, and change its files")
        named = [("--name", name), ("--description", description), ("--dir", dir), ("--stack", stack)]
        named.append(("--secrets-provider", secrets_provider))
        texts = [*named, *(("--config", value) for value in config or ())]
        flags = {"--config-path": config_path, "--force": force, "--generate-only": generate_only}
        arguments = [
            *(text for flag, value in texts if value for text in (flag, value)),
            *(flag for flag, is_set in flags.items() if is_set),
        ]
        return self._command(["new", template_or_url or "python", "--yes", *arguments], on_output)

    create_stack_async = twin(create_stack)
    select_stack_async = twin(select_stack)
    remove_stack_async = twin(official.LocalWorkspace.remove_stack)
    list_stacks_async = twin(list_stacks)
    stack_references_async = twin(stack_references)
    stack_async = twin(official.LocalWorkspace.stack)
    stack_outputs_async = twin(official.LocalWorkspace.stack_outputs)
    export_stack_async = twin(official.LocalWorkspace.export_stack)
    import_stack_async = twin(official.LocalWorkspace.import_stack)
    who_am_i_async = twin(who_am_i)
    get_config_async = twin(official.LocalWorkspace.get_config)
    get_all_config_async = twin(official.LocalWorkspace.get_all_config)
    set_config_async = twin(official.LocalWorkspace.set_config)
    set_all_config_async = twin(official.LocalWorkspace.set_all_config)
    remove_config_async = twin(official.LocalWorkspace.remove_config)
    remove_all_config_async = twin(remove_all_config)
    install_plugin_async = twin(official.LocalWorkspace.install_plugin)
    install_plugin_from_server_async = twin(official.LocalWorkspace.install_plugin_from_server)
    remove_plugin_async = twin(official.LocalWorkspace.remove_plugin)
    list_plugins_async = twin(official.LocalWorkspace.list_plugins)
    refresh_config_async = twin(refresh_config)


def default_project(project_name: str) -> ProjectSettings:
    """The settings of an inline program's project, whose assets are found from the current directory."""
    return ProjectSettings(name=project_name, runtime="python", main=str(Path.cwd()))


def _summary_of(told: dict[str, Any]) -> StackSummary:
    """A stack as `stack ls` tells of it."""
    last_update = told.get("lastUpdate")
    return StackSummary(
        name=told["name"],
        current=told["current"],
        update_in_progress=told["updateInProgress"],
        last_update=None if last_update is None else datetime.strptime(last_update, _TIME_FORMAT),
        resource_count=told["resourceCount"],
    )


def _config_value(key: str, value: Any) -> ConfigValue:
    """What may be set; refuses what is easily given in its place."""
    if isinstance(value, ConfigValue):
        return value
    raise TypeError(
        f"the value of '{key}' is {value!r}; it must be a ConfigValue, as in ConfigValue('text', secret=True)"
    )


def _leaves(path: str, value: Any) -> list[tuple[str, str]]:
    """Paths and texts of the values in an object or a list."""
    if isinstance(value, dict):
        return [leaf for name, below in value.items() for leaf in _leaves(f"{path}[{json.dumps(name)}]", below)]
    if isinstance(value, list):
        return [leaf for index, below in enumerate(value) for leaf in _leaves(f"{path}[{index}]", below)]
    return [(path, value if isinstance(value, str) else json.dumps(value))]


def _refuse(method: str, why: str) -> NoReturn:
    raise UnsupportedError(f"{method}: {why}")
