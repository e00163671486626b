"""What is seen of a case: without what differs from run to run, in an order that does not, and compared with what was
recorded."""

import json
import re

SIG = "4dabf18193072939515e22adb298388d"
GONE = {"created", "modified", "sourcePosition", "stackTrace"}
# The recordings are older than byte strings and the old outputs of `Check`, which are here as in the reference.
NOISE = {
    "acceptsByteString",
    "oldOutputs",
    "sendsOldOutputsToCheck",
    "engineAddress",
    "loaderTarget",
    "mapperTarget",
    "resolverTarget",
    "rootDirectory",
    "programDirectory",
    "randomSeed",
    "resourceStatusAddress",
    "resourceStatusToken",
    "monitorEndpoint",
    "stackTraceHandle",
    "parallel",
    "organization",
}


def serves(start):
    """The provider that a started plugin is for: several start in any order."""
    names = [call["request"]["name"] for call in start["calls"] if call["rpc"] in ("CheckConfig", "Configure")]
    return names[0] if names else ""


def subject(call):
    """Calls for different resources come in any order, those for one of them in one."""
    rpc, request = call["rpc"], call["request"] or {}
    if rpc in ("Handshake", "GetPluginInfo", "Attach", "Parameterize", "GetSchema"):
        return 0, ""
    if rpc in ("CheckConfig", "Configure", "DiffConfig"):
        return 1, ""
    if rpc == "Cancel":
        return 3, ""
    if rpc in ("Invoke", "Call"):
        return 2, json.dumps(request, sort_keys=True)
    return 2, request.get("urn") or f"{request.get('type')}::{request.get('name')}"


def start_of(start, number):
    return start["byNumber"][number]


def tidy(value, depth=0):
    """JSON with a line for each call, resource and file, so that differences can be read."""
    pad = " " * (depth + 1)
    if depth < 7 and isinstance(value, dict) and not ({"rpc", "urn", "id"} & set(value)) and value:
        inner = [f"{pad}{json.dumps(key)}: {tidy(value[key], depth + 1)}" for key in sorted(value)]
        return "{\n" + ",\n".join(inner) + "\n" + " " * depth + "}"
    if depth < 7 and isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return "[\n" + ",\n".join(pad + tidy(item, depth + 1) for item in value) + "\n" + " " * depth + "]"
    return json.dumps(value, sort_keys=True)


def strip(value):
    """A resource of the state without what differs from run to run; a secret as its plain value."""
    if isinstance(value, dict):
        if SIG in value and "plaintext" in value:
            return {"$secret": strip(json.loads(value["plaintext"]))}
        result = {key: strip(item) for key, item in value.items() if key not in GONE}
        if "urn" in value and "type" in value:
            # The reference engine keeps these as sets.
            for key in ("dependencies", "additionalSecretOutputs"):
                if key in result:
                    result[key].sort()
            result.update(
                {
                    key: {name: sorted(urns) for name, urns in result[key].items()}
                    for key in ("propertyDependencies",)
                    if key in result
                }
            )
        return {key: "<code>" if key == "__provider" else item for key, item in result.items()}
    return [strip(item) for item in value] if isinstance(value, list) else value


def quiet(value):
    if isinstance(value, dict):
        return {
            key: "<code>" if key == "__provider" else sorted(item) if key == "urns" else quiet(item)
            for key, item in value.items()
            if key not in NOISE and not (key == "customTimeouts" and not item)
        }
    return [quiet(item) for item in value] if isinstance(value, list) else value


def summary(output):
    counts = output[output.find("Resources:") :]
    found = re.findall(r"^\s+(?:\+-|[+~\-><=%]+)?\s*(\d+) (?:to )?(\w+)", counts, re.M)
    return {what: int(count) for count, what in found if "Resources:" in output}


def without_idle(resource):
    """A resource without the list of what its provider's code depends on: nothing. A refresh of the reference drops
    it."""
    listed = resource.get("propertyDependencies", {})
    kept = {name: urns for name, urns in listed.items() if name != "__provider"}
    return {**resource, "propertyDependencies": kept} if listed else resource


def compared(steps, spec, words):
    """What has to be the same. An engine may word things in its own way, and fail with an exit code of its own."""
    own = (*spec.get("departs", {}), *(() if words else ("says", "summary")))
    result = []
    for step, asked in zip(steps, spec["steps"], strict=True):
        step = {key: value for key, value in step.items() if key not in own}
        if "state" in step:
            step["state"] = [without_idle(resource) for resource in step["state"]]
        if asked.get("anyOrder"):
            step["changes"] = sorted(step["changes"])
        if step["exit"] and "interrupt" not in asked:
            # In a run that failed the end of the plugins and the last Cancel are a race.
            step["calls"] = [
                {**start, "calls": [call for call in start["calls"] if call["rpc"] != "Cancel"]}
                for start in step["calls"]
            ]
        result.append(step if words else {**step, "exit": step["exit"] != 0})
    return result
