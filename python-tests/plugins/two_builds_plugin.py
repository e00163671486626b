"""The probe plugin in two builds, which keep their objects differently. Both languages' tests start it.

The first build keeps the input `size` as `cents`, a number. The second one keeps it as `price`, an object, and makes
one of what the first build left, in `Check`, `Diff` and `Read`. Each call is written down in the world's file `.calls`.

`$BUILD` says which build it is.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance" / "plugins" / "plugins"))

import probe
from messages import provider_pb2 as p

SECOND = os.environ.get("BUILD") == "2"
BAGS = ("olds", "news", "old_inputs", "old_outputs", "properties", "inputs")


def upgraded(bag):
    """What the first build kept, as the second one does."""
    if not SECOND or "cents" not in bag:
        return bag
    return {**{key: value for key, value in bag.items() if key != "cents"}, "price": {"cents": bag["cents"]}}


class Build(probe.Probe):
    def note(self, method, request):
        bags = {name: probe.bare(probe.plain(getattr(request, name))) for name in BAGS if hasattr(request, name)}
        with (Path(probe.WORLD) / ".calls").open("a") as calls:
            calls.write(json.dumps({"method": method, **bags}) + "\n")

    def kept(self, news):
        size = news.pop("size", None)
        if size is not None:
            news = {**news, "price": {"cents": size * 100}} if SECOND else {**news, "cents": size * 100}
        return news

    def Check(self, request, context):
        self.note("Check", request)
        return p.CheckResponse(inputs=probe.packed(self.kept(probe.plain(request.news))))

    def Diff(self, request, context):
        self.note("Diff", request)
        olds = upgraded(probe.bare(probe.plain(request.old_inputs)))
        changed = olds != probe.bare(probe.plain(request.news))
        return p.DiffResponse(changes=p.DiffResponse.DIFF_SOME if changed else p.DiffResponse.DIFF_NONE)

    def Read(self, request, context):
        self.note("Read", request)
        properties, inputs = probe.plain(request.properties), probe.plain(request.inputs)
        return p.ReadResponse(
            id=request.id, properties=probe.packed(upgraded(properties)), inputs=probe.packed(upgraded(inputs))
        )

    def Update(self, request, context):
        self.note("Update", request)
        return super().Update(request, context)

    def Delete(self, request, context):
        self.note("Delete", request)
        return super().Delete(request, context)


if __name__ == "__main__":
    probe.Probe = Build
    probe.main()
