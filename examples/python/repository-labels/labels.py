"""GitHub issue labels as resources, through PyGithub."""

# The SDK types property bags as dict[str, Any]; the methods here say what is in them.
# mypy: disable-error-code="override"

from __future__ import annotations

import re
import threading
from typing import Any, TypedDict, cast

import pulumi
from github import Auth, Github, GithubException, UnknownObjectException
from github.Label import Label as GithubLabel
from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    ConfigureRequest,
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)


class Inputs(TypedDict):
    """What the provider's methods are given, resolved."""

    repository: str
    label: str
    color: str
    description: str


class LabelProvider(ResourceProvider):
    """Manages labels with one client, made in `configure` and used by every call of the run.

    Client and lock are made in `configure`, not in `__init__`: so the object has no attributes when a resource is
    registered, and maloko can build an equal one for labels that are no longer in the program.
    """

    def configure(self, req: ConfigureRequest) -> None:
        pause = req.config.get("secondsBetweenWrites")
        self._github = Github(
            auth=Auth.Token(req.config.require("githubToken")),
            base_url=req.config.get("githubApi") or "https://api.github.com",
            # GitHub asks clients to pause between writes, and PyGithub does unless told otherwise.
            seconds_between_writes=1.0 if pause is None else float(pause),
            seconds_between_requests=None if pause is not None else 0.25,
        )
        # PyGithub keeps a request on its connection until the answer is read, so calls take turns.
        self._turn = threading.Lock()

    def check(self, _olds: Inputs, news: Inputs) -> CheckResult:
        failures = []
        repository, color = news["repository"], news["color"]
        if not pulumi.contains_unknowns(repository) and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
            failures.append(CheckFailure("repository", f'"{repository}" is not of the form owner/name'))
        if pulumi.contains_unknowns(color):
            pass  # in a preview, what another resource has yet to answer
        # YAML takes 123456 for a number.
        elif not isinstance(color, str) or not re.fullmatch("[0-9a-fA-F]{6}", color):
            reason = f'"{color}" is not a colour: write six hexadecimal digits, in quotes and without "#"'
            failures.append(CheckFailure("color", reason))
        else:
            color = color.lower()
        return CheckResult({**news, "color": color, "description": news.get("description") or ""}, failures)

    def diff(self, _id: str, olds: Inputs, news: Inputs) -> DiffResult:
        changed = [key for key in ("repository", "label", "color", "description") if olds.get(key) != news.get(key)]
        # A label cannot move to another repository; all else is edited in place.
        replaces = [key for key in changed if key == "repository"]
        return DiffResult(changes=bool(changed), replaces=replaces, stables=["repository"] if not replaces else None)

    def create(self, props: Inputs) -> CreateResult:
        """Makes the label, or adopts the one of that name.

        A run that is killed after GitHub made the label and before the state says so leaves a label behind. A name is
        unique in its repository, so the next run's create can tell: it takes over the label that is there, and gives
        it the colour and description asked for. The price is that a label made by hand is taken over as well.
        """
        with self._turn:
            repository = self._github.get_repo(props["repository"], lazy=True)
            try:
                label = repository.create_label(props["label"], props["color"], props["description"])
            except GithubException as error:
                if not already_exists(error):
                    raise
                pulumi.log.info(f"the label {props['label']} is there already: taking it over")
                label = repository.get_label(props["label"])
                label.edit(props["label"], props["color"], props["description"])
            return CreateResult(id_=str(label.id), outs=outputs_of(props["repository"], label))

    def read(self, id_: str, props: Inputs) -> ReadResult:
        """Looks the label up: a stored one by its properties, one to `get` or to import by an id OWNER/NAME/LABEL.

        It says what the inputs would be too: an import compares them with the program's.
        """
        if not props.get("label"):
            props = cast(Inputs, {**props, **place_of(id_)})
        with self._turn:
            try:
                # PyGithub asks for a label when one of its attributes is looked at.
                label = self._find(props)
                id_, outs = str(label.id), outputs_of(props["repository"], label)
            except UnknownObjectException:
                return ReadResult("", {})  # an empty id says that it is gone
        return ReadResult(id_, outs, {key: value for key, value in outs.items() if key != "url"})

    def update(self, _id: str, olds: Inputs, news: Inputs) -> UpdateResult:
        with self._turn:
            label = self._find(olds)
            label.edit(news["label"], news["color"], news["description"])
            return UpdateResult(outputs_of(news["repository"], label))

    def delete(self, _id: str, props: Inputs) -> None:
        with self._turn:
            try:
                self._find(props).delete()
            except UnknownObjectException:
                pulumi.log.info(f"the label {props['label']} is gone already")

    def _find(self, props: Inputs) -> GithubLabel:
        return self._github.get_repo(props["repository"], lazy=True).get_label(props["label"])


def place_of(id_: str) -> dict[str, Any]:
    """The repository and name in an id that somebody wrote."""
    owner, _, rest = id_.partition("/")
    repository, _, label = rest.partition("/")
    if not label:
        raise ValueError(f'"{id_}" does not say which label: write OWNER/NAME/LABEL')
    return {"repository": f"{owner}/{repository}", "label": label}


def already_exists(error: GithubException) -> bool:
    """Whether GitHub refused a create because the name is taken."""
    problems = error.data.get("errors", []) if isinstance(error.data, dict) else []
    return error.status == 422 and any(problem.get("code") == "already_exists" for problem in problems)


def outputs_of(repository: str, label: GithubLabel) -> dict[str, Any]:
    return {
        "repository": repository,
        "label": label.name,
        "color": label.color,
        "description": label.description or "",
        "url": label.url,
    }


class Label(Resource, module="github", name="Label"):
    """A label: `label` is its name, `color` six hexadecimal digits."""

    repository: pulumi.Output[str]
    label: pulumi.Output[str]
    color: pulumi.Output[str]
    description: pulumi.Output[str]
    url: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        repository: pulumi.Input[str],
        label: pulumi.Input[str],
        color: pulumi.Input[str],
        description: pulumi.Input[str] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {"repository": repository, "label": label, "color": color, "description": description, "url": None}
        super().__init__(_provider, name, props, opts)

    @classmethod
    def get(cls, name: str, id_: pulumi.Input[str]) -> Label:
        """A label OWNER/NAME/LABEL that somebody else looks after: it is read, and never changed or deleted."""
        unsaid: Any = None
        return cls(name, unsaid, unsaid, unsaid, opts=pulumi.ResourceOptions(id=id_))


# One object for all labels: it is configured once, and its client is shared.
_provider = LabelProvider()
