// How payloads travel to the server, by the table that both languages have.
import { readFileSync } from "node:fs";
import type { Payload } from "@temporalio/common";
import { afterEach, expect, test, vi } from "vitest";
import { FleetCodec, fleetKey } from "../node_modules/maloko/dist/fleet/codec.js";

interface Row {
    about: string;
    encrypted: boolean;
    is: { metadata: Record<string, string>; text: string };
    travels: { metadata: Record<string, string>; data: string };
}

const VARIABLE = "MALOKO_FLEET_KEY";
const TABLE = new URL("../../conformance/fleets/codec.json", import.meta.url);
const { key: keyText, payloads } = JSON.parse(readFileSync(TABLE, "utf8")) as { key: string; payloads: Row[] };
const KEY = Buffer.from(keyText, "base64");

function payloadOf(metadata: Record<string, string>, data: Buffer): Payload {
    return {
        metadata: Object.fromEntries(Object.entries(metadata).map(([name, it]) => [name, Buffer.from(it)])),
        data,
    };
}

/** What can be compared, whichever kind of bytes and of object it is. */
function shown({ metadata, data }: Payload): object {
    const texts = Object.entries(metadata ?? {}).map(([name, it]) => [name, Buffer.from(it).toString()]);
    return { metadata: Object.fromEntries(texts), data: Buffer.from(data ?? []).toString() };
}

async function decoded(payload: Payload, key: Buffer | undefined): Promise<Payload> {
    return (await new FleetCodec(key).decode([payload]))[0] as Payload;
}

afterEach(() => vi.unstubAllEnvs());

test.each(payloads)("payloads travel alike in both languages: $about", async ({ encrypted, is, travels }) => {
    const key = encrypted ? KEY : undefined;
    const payload = payloadOf(travels.metadata, Buffer.from(travels.data, "base64"));
    const meant = payloadOf(is.metadata, Buffer.from(is.text));

    expect(shown(await decoded(payload, key))).toEqual(shown(meant));
    const [sent] = (await new FleetCodec(key).encode([meant])) as [Payload];
    expect(shown({ ...sent, data: null })).toEqual(shown({ ...payload, data: null }));
    expect(shown(await decoded(sent, key))).toEqual(shown(meant));
});

test("what another key or none has encrypted is not read", async () => {
    const { travels } = payloads.at(-1) as Row;
    const payload = payloadOf(travels.metadata, Buffer.from(travels.data, "base64"));
    await expect(decoded(payload, undefined)).rejects.toThrow("the run is encrypted, and MALOKO_FLEET_KEY is not set");
    await expect(decoded(payload, Buffer.alloc(32))).rejects.toThrow("the run is encrypted with another key");
});

test("what is encrypted looks new each time", async () => {
    const payload = payloadOf({ encoding: "json/plain" }, Buffer.from('"the same"'));
    const [one, other] = (await new FleetCodec(KEY).encode([payload, payload])) as [Payload, Payload];

    expect(shown(one)).not.toEqual(shown(other));
    expect(Buffer.from(one.data ?? []).includes("the same")).toBe(false);
});

test.each(["no base64!", Buffer.alloc(31).toString("base64")])("a key of the wrong form is told: %s", (text) => {
    vi.stubEnv(VARIABLE, text);
    expect(() => fleetKey()).toThrow("MALOKO_FLEET_KEY is no key: it has to be 32 bytes in base64");
    vi.stubEnv(VARIABLE, keyText);
    expect(fleetKey()).toEqual(KEY);
});
