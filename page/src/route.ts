// Which view is shown, from the part of the address behind `#`: `#/resources/urn:...?view=graph&q=web`.

import { signal } from "@preact/signals";

export const STACK_VIEWS = ["overview", "resources", "run", "changes", "log", "history"] as const;
export type StackView = (typeof STACK_VIEWS)[number];
/** Those of the page of a fleet's run. */
export const FLEET_VIEWS = ["overview", "stacks", "failures"] as const;
export type FleetView = (typeof FLEET_VIEWS)[number];
export type View = StackView | FleetView;
const VIEWS: readonly View[] = [...STACK_VIEWS, ...FLEET_VIEWS];

export interface Route {
    view: View;
    /** What of it is chosen: a resource's key, the index of a step or an activity, a version. */
    item?: string;
    params: { [key: string]: string };
}

export function parse(hash: string): Route {
    const [path = "", query = ""] = split(hash.replace(/^#\/?/, ""), "?");
    const [first = "", item] = split(path, "/");
    const view = VIEWS.find((name) => name === first) ?? "overview";
    const params = Object.fromEntries(new URLSearchParams(query));
    const chosen = item === undefined ? undefined : decoded(item);
    return chosen ? { view, item: chosen, params } : { view, params };
}

export function format({ view, item, params }: Route): string {
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== "")).toString();
    // Colons and dollars may stand in an address: a URN stays readable.
    const chosen = item === undefined ? "" : `/${encodeURIComponent(item).replace(/%3A/g, ":").replace(/%24/g, "$")}`;
    return `#/${view}${chosen}${query ? `?${query}` : ""}`;
}

function split(text: string, at: string): [string, string?] {
    const place = text.indexOf(at);
    return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

function decoded(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

export const route = signal<Route>({ view: "overview", params: {} });

/** The view that the address names, where the page has it; otherwise the overview. */
export function viewAmong<T extends View>(views: readonly T[]): T | "overview" {
    return views.find((name) => name === route.value.view) ?? "overview";
}

/** Follows the address. */
export function followAddress(): void {
    const read = () => {
        route.value = parse(location.hash);
    };
    addEventListener("hashchange", read);
    read();
}

/** The address of a view, for a link. */
export function address(view: View, item?: string, params: { [key: string]: string } = {}): string {
    return format(item === undefined ? { view, params } : { view, item, params });
}

/** Goes to a view: the browser's back comes back. */
export function go(next: Route): void {
    const hash = format(next);
    if (hash !== format(route.value)) location.hash = hash;
}

/** Changes the address without an entry for "back", such as for what is being typed. */
export function adjust(next: Route): void {
    history.replaceState(null, "", format(next));
    route.value = next;
}

/** Is there room for details beside a list? */
export function wide(): boolean {
    return matchMedia("(min-width: 900px)").matches;
}

/** Chooses something in this view: moved to, it is shown where there is room for that; opened, it is gone to. */
export function pick(item: string, how: "move" | "open"): void {
    const next = { ...route.value, item };
    if (how === "open") go(next);
    else if (wide()) adjust(next);
}

/** The same view with other parameters; an empty one is left out. */
export function withParams(params: { [key: string]: string }): Route {
    return { ...route.value, params: { ...route.value.params, ...params } };
}

/** The members of a parameter that is a list. */
export function setOf(text: string | undefined): Set<string> {
    return new Set((text ?? "").split(",").filter(Boolean));
}
