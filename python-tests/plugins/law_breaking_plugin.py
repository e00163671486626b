"""The probe plugin with a bug in it, for tests of the laws. The file `.breaks` in its world names the law that breaks.

Both languages' tests start it, by a link that is called `pulumi-resource-probe`.
"""

import json
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance" / "plugins" / "plugins"))

import grpc
import probe
from messages import engine_pb2
from messages import provider_pb2 as p

KEPT_ASIDE = ("origin", "planned")
"""Members of an object that are no inputs."""


def law() -> str:
    file = Path(probe.WORLD) / ".breaks"
    return file.read_text() if file.exists() else ""


class Breaker(probe.Probe):
    def __init__(self, engine):
        super().__init__(engine)
        self.arrivals, self.arrived, self.leaving = threading.Condition(), 0, 0

    def outputs(self, inputs, id_, preview=False):
        outputs = super().outputs(inputs, id_, preview)
        if "noSecrets" not in probe.FLAGS and not preview:
            outputs["token"] = probe.secret("token")
        return {key: value for key, value in outputs.items() if key != "planned"}

    def Check(self, request, context):
        answer = super().Check(request, context)
        if law() == "L1":
            news = probe.plain(answer.inputs)
            news["checked"] = news.get("checked", 0) + 1
            return p.CheckResponse(inputs=probe.packed(news), failures=answer.failures)
        return answer

    def Diff(self, request, context):
        answer = super().Diff(request, context)
        olds, breaks = probe.bare(probe.plain(request.olds)), law()
        if (breaks == "L2" and olds.get("mark") == "made") or (breaks == "L4" and olds.get("mark") == "changed"):
            return p.DiffResponse(changes=p.DiffResponse.DIFF_SOME, diffs=["mark"])
        if breaks == "L10" and self.path(request.id).exists():
            real = json.loads(self.path(request.id).read_text())
            self.store(request.id, {**real, "planned": real.get("planned", 0) + 1})
        return answer

    def Create(self, request, context):
        breaks = law()
        if breaks == "L14" and not request.preview and self.cancelled.wait(1.0):
            self.cancelled.clear()
            self.cancelled.wait(60)
        if breaks == "L12" and self.engine and not request.preview:
            text = probe.bare(probe.plain(request.properties)).get("text")
            self.engine.Log(engine_pb2.LogRequest(severity=1, message=f"made of {text}", urn=request.urn))
        if breaks == "L6" and not request.preview:
            inputs, id_ = probe.plain(request.properties), "here-" + request.urn.rsplit("::", 1)[-1]
            self.store(id_, inputs)
            return p.CreateResponse(id=id_, properties=probe.packed(self.outputs(inputs, id_)))
        answer = super().Create(request, context)
        if breaks == "L2" and not request.preview:
            answer.properties["mark"] = "made"
        if breaks == "L17" and not request.preview and self.meets_another():
            answer.properties["others"] = True
        return answer

    def meets_another(self):
        """Does another call come within a moment?"""
        with self.arrivals:
            self.arrived += 1
            self.arrivals.notify_all()
            met = self.arrived > 1 or self.arrivals.wait_for(lambda: self.arrived > 1, 0.1)
            self.leaving += 1
            if self.leaving == self.arrived:
                self.arrived = self.leaving = 0
            return met

    def Update(self, request, context):
        breaks = law()
        answer = super().Update(request, context)
        if request.preview:
            return answer
        if breaks == "L4":
            answer.properties["mark"] = "changed"
        if breaks == "L5":
            self.store(request.id, {**probe.plain(request.news), "origin": "an update"})
            answer.properties["origin"] = "an update"
        return answer

    def Read(self, request, context):
        breaks, state = law(), probe.plain(request.properties)
        answer = super().Read(request, context)
        if not answer.id:
            return answer
        for member in KEPT_ASIDE:
            answer.inputs.fields.pop(member, None)
        if breaks in ("L2", "L4", "L17") and state:
            for member in ("mark", "others"):
                if member in state:
                    answer.properties[member] = state[member]
        if breaks == "L3" and state:
            answer.properties["url"] = "elsewhere"
        if breaks == "L9" and not state:
            answer.inputs.fields.pop("text", None)
            answer.properties.fields.pop("text", None)
        if breaks == "L11" and state:
            return p.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)
        return answer

    def Delete(self, request, context):
        breaks = law()
        if breaks == "L8" and not self.path(request.id).exists():
            context.abort(grpc.StatusCode.UNKNOWN, "404: there is no such object")
        if breaks == "L7" and len(list(Path(probe.WORLD).glob("*.json"))) > 1:
            return probe.empty_pb2.Empty()
        return super().Delete(request, context)


probe.Probe = Breaker

if __name__ == "__main__":
    probe.main()
