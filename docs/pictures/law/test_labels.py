"""What the picture of a law's failure shows: an update that forgets the colour."""

from pulumi.dynamic import CreateResult, ReadResult, ResourceProvider, UpdateResult

from maloko.testing import ProviderLaws


class Repository:
    def __init__(self):
        self.labels = {}

    def objects(self):
        return self.labels


class LabelProvider(ResourceProvider):
    def __init__(self, repository):
        self.labels = repository.labels

    def create(self, props):
        id_ = f"label-{len(self.labels) + 1}"
        self.labels[id_] = dict(props)
        return CreateResult(id_, self.labels[id_])

    def read(self, id_, _props):
        found = self.labels.get(id_)
        return ReadResult(id_, found, found) if found else ReadResult("", {})

    def update(self, id_, _olds, news):
        self.labels[id_]["label"] = news["label"]
        return UpdateResult(dict(self.labels[id_]))

    def delete(self, id_, _props):
        self.labels.pop(id_, None)


class TestLabels(ProviderLaws):
    provider, world = LabelProvider, Repository
    inputs = ({"label": "bug", "color": "red"}, {"label": "bug", "color": "green"})
