import { expect, test } from "vitest";
import {
    activityTitle,
    byWeight,
    duration,
    family,
    moment,
    opWords,
    runName,
    shortType,
    ticking,
    typeOf,
} from "./words.ts";

test("a duration has the unit in which it is read", () => {
    expect([0, 0.2, 850, 999.6, 1400, 2000, 41_340, 125_000, 3_600_000, 11_400_000].map(duration)).toEqual([
        "0 ms",
        "< 1 ms",
        "850 ms",
        "1 s",
        "1.4 s",
        "2 s",
        "41 s",
        "2 min 5 s",
        "1 h",
        "3 h 10 min",
    ]);
});

test("the short name of a type is its class, and of a provider resource its package", () => {
    expect(shortType("pulumi-python:dynamic/app:Server")).toBe("Server");
    expect(shortType("pulumi:providers:aws")).toBe("provider aws");
    expect(shortType("pulumi-nodejs:dynamic:Resource")).toBe("dynamic Resource");
    expect(shortType("odd")).toBe("odd");
    expect(shortType("odd:")).toBe("odd:");
});

test("a resource without a type of its own is called by the class of its provider", () => {
    const type = "pulumi-python:dynamic:Resource";
    expect(typeOf({ type })).toBe("dynamic Resource");
    expect(typeOf({ type, providerClass: "service.alerts:AlertProvider" })).toBe("dynamic AlertProvider");
    expect(typeOf({ type: "pulumi-python:dynamic/app:Server", providerClass: "app:Servers" })).toBe("Server");
    expect(typeOf(undefined)).toBe("");
});

test("an activity is called by its method, a wait by what is waited for", () => {
    expect(activityTitle({ kind: "call", name: "create" }, "db")).toBe("create of db");
    expect(activityTitle({ kind: "dependency", name: "what is deleted before it" }, "db")).toBe(
        "db waits for what is deleted before it",
    );
    expect(activityTitle({ kind: "disk", name: "the journal" }, undefined)).toBe("waits for the journal");
    expect(activityTitle({ kind: "plugin", name: "vault starts" }, undefined)).toBe("vault starts");
});

test("a time that goes on is told in whole seconds", () => {
    expect([20, 1999, 61_900].map(ticking)).toEqual(["0 s", "1 s", "1 min 1 s"]);
});

test("the steps of a replacement are one operation", () => {
    expect(["create-replacement", "delete-replaced", "replace", "update"].map(family)).toEqual([
        "replace",
        "replace",
        "replace",
        "update",
    ]);
});

test("an operation that the page does not know is called what the data call it", () => {
    expect(opWords("transmute").done).toBe("transmute");
    expect(opWords("constructor").done).toBe("constructor");
});

test("what destroys comes first, what changes nothing last, what is not known after that", () => {
    expect(["same", "create", "transmute", "delete", "replace"].sort(byWeight)).toEqual([
        "delete",
        "replace",
        "create",
        "same",
        "transmute",
    ]);
});

test("a time that is none stays as it is", () => {
    expect(moment("2026-11-20T10:02:31.5Z")).toBe("2026-11-20 10:02:31 UTC");
    expect(moment("yesterday")).toBe("yesterday");
});

test("a run that changed nothing is a preview", () => {
    expect([runName("update", false), runName("destroy", true), runName("other", true)]).toEqual([
        "Update",
        "Preview of a destroy",
        "other",
    ]);
});
