// HTTP that is recorded once and played back, by the resource and the method that asked.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "maloko/vitest";
import { type Props, Thing } from "../support/kit";

/** A service of labels; makes its numbers up as it goes. */
class Service {
    asked = 0;
    server = http.createServer((request, response) => {
        let body = "";
        request.on("data", (chunk) => {
            body += chunk;
        });
        request.on("end", () => {
            this.asked++;
            response.setHeader("set-cookie", "session=hunter2");
            if (request.method === "DELETE") {
                response.writeHead(204).end();
            } else if (request.url === "/bytes") {
                response.end(Buffer.from([0xff, 0x00, 0xfe]));
            } else {
                response.end(JSON.stringify({ number: this.asked, echo: body, key: request.headers["x-key"] }));
            }
        });
    });

    async start() {
        await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
        return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    }

    stop() {
        return new Promise((resolve) => this.server.close(resolve));
    }
}

/** Talks to it with `fetch`, and deletes through `node:http`. */
class LabelProvider {
    async create({ url, key, name }: Props) {
        const headers = { "x-key": key };
        const response = await fetch(`${url}/labels?key=${key}`, { method: "POST", body: `${name} ${key}`, headers });
        const { number } = (await response.json()) as { number: number };
        return { id: `${name}-${number}`, outs: { url, key, name, number } };
    }

    async delete(id: string, { url }: Props) {
        await new Promise<void>((resolve, reject) => {
            const request = http.request(`${url}/labels/${id}`, { method: "DELETE" }, (response) => {
                response.resume();
                response.on("end", resolve);
            });
            request.on("error", reject).end();
        });
    }
}

const test = base.extend<{ world: object; directory: string; service: Service }>({
    directory: async ({}, use) => {
        const directory = mkdtempSync(join(tmpdir(), "maloko-cassettes-"));
        await use(directory);
        rmSync(directory, { recursive: true });
    },
    service: async ({}, use) => {
        const service = new Service();
        await use(service);
        service.server.close();
    },
    // So the two outlive the stacks.
    world: async ({ directory, service }, use) => {
        void [directory, service];
        await use([]);
    },
});

function labels({ url, names }: Props): void {
    for (const name of names) {
        new Thing(new LabelProvider(), name, { url, key: "hunter2", name });
    }
}

test("traffic is replayed by resource and method", async ({ maloko, directory, service }) => {
    const file = join(directory, "labels.json");
    const url = await service.start();
    const settings = { secrets: { key: "hunter2" }, settle: false };
    const cassette = maloko.cassette(file, { record: "once" });
    const s = maloko.stack(labels, { ...settings, inputs: { url, names: ["a", "b"] } });
    await s.up();
    const made = [s.outputs("a").number, s.outputs("b").number];
    await s.destroy();
    expect(service.asked).toBe(4);
    await cassette.eject();
    await service.stop();
    const written = readFileSync(file, "utf8");
    expect(written).not.toContain("hunter2");
    expect(Object.keys(JSON.parse(written).episodes)).toEqual(["a.create", "a.delete", "b.create", "b.delete"]);

    const again = maloko.cassette(file);
    const t = maloko.stack(labels, { ...settings, inputs: { url, names: ["b", "a"] } });
    await t.up();
    expect([t.outputs("a").number, t.outputs("b").number]).toEqual(made);
    await t.destroy();
    await again.eject();
    expect(service.asked).toBe(4);
});

test("a request that is not on the cassette fails, and says how to record it", async ({ maloko, directory }) => {
    const file = join(directory, "empty.json");
    writeFileSync(file, '{"version": 1, "episodes": {}}');
    const cassette = maloko.cassette(file);
    const s = maloko.stack(labels, { inputs: { url: "http://127.0.0.1:1", names: ["a"] } });
    await expect(s.up()).toFail("a", { method: "create" });
    await expect(cassette.eject()).rejects.toThrow(
        /POST http:..127.0.0.1:1.labels\?key=hunter2 \(in a.create\) is not on cassette .*MALOKO_RECORD=new/,
    );
});

test("a cassette that is missing or damaged says what to do", async ({ maloko, directory }) => {
    const file = join(directory, "none.json");
    expect(() => maloko.cassette(file)).toThrow(`there is no cassette ${file}: record it with MALOKO_RECORD=once`);
    expect(existsSync(file)).toBe(false);
    writeFileSync(file, "{");
    expect(() => maloko.cassette(file)).toThrow(`cassette ${file} cannot be read`);
    writeFileSync(file, "{}");
    expect(() => maloko.cassette(file)).toThrow("has no `version` 1");
    expect(() => maloko.cassette(file, { record: "often" as "once" })).toThrow("'often' is no record mode");
});

test("bytes and requests of the program itself are played back", async ({ maloko, directory, service }) => {
    const file = join(directory, "bytes.json");
    const url = await service.start();
    const program = async () => {
        const response = await fetch(`${url}/bytes`);
        return { bytes: [...new Uint8Array(await response.arrayBuffer())] };
    };
    const seen: unknown[] = [];
    for (const record of ["once", "none"] as const) {
        const cassette = maloko.cassette(file, { record });
        const s = maloko.stack(program, { settle: false });
        await s.up();
        seen.push(s.outputs().bytes);
        await cassette.eject();
    }
    expect(seen).toEqual([
        [0xff, 0, 0xfe],
        [0xff, 0, 0xfe],
    ]);
    expect(service.asked).toBe(1);
});
