"""A small widget service over HTTP, in memory: `python -m examples.servers.widgets`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .service import Answer, Json, Refused, Service, main

SIZES = ("small", "medium", "large")


class WidgetService(Service):
    """Widgets by id. A POST that repeats an `Idempotency-Key` gets the widget that the first one made."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.widgets: dict[str, Json] = {}
        self.keys: dict[str, str] = {}
        self.made = 0

    def routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        return [
            ("POST", "/widgets", self.create_widget),
            ("GET", "/widgets/{id}", self.get_widget),
            ("PUT", "/widgets/{id}", self.replace_widget),
            ("DELETE", "/widgets/{id}", self.delete_widget),
        ]

    def widget(self, id: str) -> Json:  # noqa: A002 - the name stands in the path template
        if id not in self.widgets:
            raise Refused(404, {"message": f"there is no widget {id}"})
        return self.widgets[id]

    def create_widget(self, body: Json, headers: Any) -> Answer:
        self.validated(body)
        key = headers.get("Idempotency-Key")
        if key in self.keys and self.keys[key] in self.widgets:
            return 200, self.widgets[self.keys[key]]
        self.made += 1
        id_ = f"w-{self.made}"
        self.widgets[id_] = {"id": id_, "name": body["name"], "size": body["size"], "revision": 1}
        if key is not None:
            self.keys[key] = id_
        return 201, self.widgets[id_]

    def get_widget(self, id: str) -> Answer:  # noqa: A002
        return 200, self.widget(id)

    def replace_widget(self, id: str, body: Json) -> Answer:  # noqa: A002
        widget = self.widget(id)
        self.validated(body)
        widget.update(name=body["name"], size=body["size"], revision=widget["revision"] + 1)
        return 200, widget

    def delete_widget(self, id: str) -> Answer:  # noqa: A002
        self.widget(id)
        del self.widgets[id]
        return 204, None

    @staticmethod
    def validated(body: Json) -> None:
        if not body.get("name") or body.get("size") not in SIZES:
            raise Refused(422, {"message": f"a widget needs a name and one of the sizes {', '.join(SIZES)}"})


if __name__ == "__main__":
    main(WidgetService, __doc__ or "")
