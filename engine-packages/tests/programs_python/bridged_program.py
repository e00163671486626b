import pulumi
import pulumi_bridged as bridged
from pulumi_bridged.network import GetRouteFilterArgs, Route, RouteHopArgs, RouteInitArgs, get_route
from pulumi_bridged.network.outputs import RouteHopResult

OUTPUTS = {
    "bridged:net/route:Route": {"hops": [{"hopCount": 2.0, "nextHops": [{"hopCount": 1.0}]}], "kind": "b"},
    "bridged:index/thing:Thing": {"kind": "some kind"},
}
RESULTS = {
    "bridged:net/getRoute:getRoute": {
        "id": "i",
        "hops": [{"hopCount": 1.0}],
        "filters": [{"filterName": "f", "hop": {"hopCount": 4.0}}],
    },
    "bridged:net/route:Route/measure": {"distance": 12.0},
    "bridged:net/route:Route/reload": {"okay": True, "hops": [{"hopCount": 3.0}]},
}


def count(hop: RouteHopResult) -> int:
    return hop.hop_count


def program() -> dict[str, object]:
    provider = bridged.Provider("provider", access_key="k", retries=3)
    route = Route(
        "route",
        hops=[RouteHopArgs(hop_count=1, next_hops=[{"hop_count": 2}])],  # type: ignore
        kind=bridged.Kind.SOME_KIND,
        opts=pulumi.ResourceOptions(provider=provider),
    )
    again = Route("again", RouteInitArgs(extra=bridged.network.RouteArgs(a="x"), kind="free"))
    thing = bridged.Thing("thing", kind=bridged.Kind.KIND_2ND, thing_name=route.id)
    known = Route.get("known", "id", hops=[{"hop_count": 5}])
    found = get_route(filters=[GetRouteFilterArgs(filter_name="f", hop=RouteHopArgs(hop_count=1))])
    later = bridged.network.get_route_output(filters=[{"filter_name": "f"}])
    return {
        "hops": route.hops,
        "first": route.hops.apply(lambda hops: count(hops[0]) if hops else 0),
        "kind": route.kind,
        "again": again.extra,
        "thing": thing.kind,
        "known": known.hops,
        "found": found,
        "filters": found.filters,
        "later": later.hops,
        "distance": route.measure(hop=RouteHopArgs(hop_count=1)),
        "reload": route.reload(),
        "key": provider.access_key,
    }
