"""What the picture of the live tree shows: labels of a repository, of which one takes its time."""

import os
import time
from pathlib import Path

import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class LabelProvider(ResourceProvider):
    def create(self, props):
        # Until the picture has been taken.
        while props["label"] == "help wanted" and not Path(os.environ["PICTURE_TAKEN"]).exists():
            time.sleep(0.05)
        return CreateResult(props["label"], props)


class Label(Resource):
    def __init__(self, name, label, color, opts=None):
        super().__init__(LabelProvider(), name, {"label": label, "color": color}, opts)


bug = Label("bug", "bug", "d73a4a")
question = Label("question", "question", "d876e3", pulumi.ResourceOptions(depends_on=[bug]))
Label("help-wanted", "help wanted", "008672", pulumi.ResourceOptions(depends_on=[question]))
