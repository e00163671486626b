"""Repository labels as GitHub's REST API serves them, in memory: `python -m examples.servers.labels`."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable
from typing import Any

from .service import Answer, Json, Refused, Service, main


class LabelService(Service):
    """Labels of the repositories that it was made with.

    `labels` maps "owner/name" to labels by lower-cased name: GitHub takes names that differ in case for the same.
    `repeated` lists the names of which a second label was asked for.
    """

    def __init__(self, token: str, repositories: tuple[str, ...] = ("acme/website",)) -> None:
        super().__init__(token)
        self.labels: dict[str, dict[str, Json]] = {name: {} for name in repositories}
        self.made = 0
        self.repeated: list[str] = []

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        one = "/repos/{owner}/{repo}/labels/{name}"
        return [
            ("GET", "/repos/{owner}/{repo}/labels", self.list_labels),
            ("POST", "/repos/{owner}/{repo}/labels", self.create_label),
            ("GET", one, self.get_label),
            ("PATCH", one, self.update_label),
            ("DELETE", one, self.delete_label),
        ]

    def unauthorized(self) -> Json:
        return {"message": "Bad credentials", "status": "401"}

    def colors(self, repository: str) -> dict[str, str]:
        """The colour of each label of a repository, by name."""
        with self.lock:
            return {label["name"]: label["color"] for label in self.labels[repository].values()}

    def repository(self, owner: str, repo: str) -> dict[str, Json]:
        found = self.labels.get(f"{owner}/{repo}")
        if found is None:
            raise Refused(404, {"message": "Not Found", "status": "404"})
        return found

    def label(self, owner: str, repo: str, name: str) -> Json:
        found = self.repository(owner, repo).get(name.lower())
        if found is None:
            raise Refused(404, {"message": "Not Found", "status": "404"})
        return found

    def list_labels(self, owner: str, repo: str) -> Answer:
        return 200, list(self.repository(owner, repo).values())

    def create_label(self, owner: str, repo: str, body: Json, headers: Any) -> Answer:
        labels = self.repository(owner, repo)
        self.validated(body)
        name = body["name"]
        if name.lower() in labels:
            self.repeated.append(name)
            raise Refused(422, problem("name", "already_exists"))
        self.made += 1
        label = {
            "id": 1000 + self.made,
            "node_id": f"LA_{self.made}",
            "name": name,
            "color": body["color"],
            "default": False,
            "description": body.get("description"),
            "url": self.address(owner, repo, name),
        }
        labels[name.lower()] = label
        return 201, label

    def get_label(self, owner: str, repo: str, name: str) -> Answer:
        return 200, self.label(owner, repo, name)

    def update_label(self, owner: str, repo: str, name: str, body: Json) -> Answer:
        label = self.label(owner, repo, name)
        new_name = body.get("new_name", label["name"])
        self.validated({"name": new_name, "color": body.get("color", label["color"])})
        labels = self.repository(owner, repo)
        if new_name.lower() != name.lower() and new_name.lower() in labels:
            raise Refused(422, problem("name", "already_exists"))
        del labels[name.lower()]
        label.update({k: v for k, v in body.items() if k in ("color", "description")})
        label.update(name=new_name, url=self.address(owner, repo, new_name))
        labels[new_name.lower()] = label
        return 200, label

    def delete_label(self, owner: str, repo: str, name: str) -> Answer:
        self.label(owner, repo, name)
        del self.repository(owner, repo)[name.lower()]
        return 204, None

    def address(self, owner: str, repo: str, name: str) -> str:
        return f"{self.url}/repos/{owner}/{repo}/labels/{urllib.parse.quote(name, safe='')}"

    @staticmethod
    def validated(body: Json) -> None:
        for key in ("name", "color"):
            if not isinstance(body.get(key), str) or not body[key]:
                raise Refused(422, problem(key, "missing_field"))
        if not re.fullmatch("[0-9a-fA-F]{6}", body["color"]):
            raise Refused(422, problem("color", "invalid"))


def problem(field: str, code: str) -> Json:
    """The body of GitHub's 422 answers."""
    errors = [{"resource": "Label", "code": code, "field": field}]
    return {"message": "Validation Failed", "errors": errors, "status": "422"}


if __name__ == "__main__":
    main(LabelService, __doc__ or "")
