// The world of the plugin that breaks laws (`python-tests/plugins/law_breaking_plugin.py`), and its executable.
import {
    chmodSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    unlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Plugin } from "maloko/vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const BREAKER = join(ROOT, "python-tests", "plugins", "law_breaking_plugin.py");
const PYTHON = join(ROOT, ".venv", "bin", "python");
export const THING = "probe:index:Thing";

/** A plugin that a file's tests share: its folder, and what it talks to. */
export class LawBreaker {
    readonly folder = mkdtempSync(join(tmpdir(), "maloko-plugin-laws-"));
    /** A folder with a file for each object. */
    readonly objects = join(this.folder, "world");
    readonly executable = join(this.folder, "pulumi-resource-probe");
    readonly plugin = new Plugin(THING, { path: this.executable });
    readonly world = {
        objects: () =>
            Object.fromEntries(this.ids().map((id) => [id, JSON.parse(readFileSync(this.#fileOf(id), "utf8"))])),
        reset: () => this.ids().forEach((id) => void unlinkSync(this.#fileOf(id))),
        mutateRemote: (id: string) =>
            writeFileSync(this.#fileOf(id), JSON.stringify({ ...this.world.objects()[id], text: "drifted" })),
        deleteRemote: (id: string) => unlinkSync(this.#fileOf(id)),
    };

    begin(): void {
        mkdirSync(this.objects);
        writeFileSync(this.executable, `#!/bin/sh\nexec "${PYTHON}" "${BREAKER}" "$@"\n`);
        chmodSync(this.executable, 0o755);
        process.env.PROBE_WORLD = this.objects;
    }

    ids(): string[] {
        return readdirSync(this.objects).flatMap((name) =>
            name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
        );
    }

    /** From now on the plugin breaks this law. */
    breaks(law: string): void {
        writeFileSync(join(this.objects, ".breaks"), law);
    }

    /** Makes it right, with nothing in its world. */
    mend(): void {
        const breaks = join(this.objects, ".breaks");
        if (existsSync(breaks)) {
            unlinkSync(breaks);
        }
        this.world.reset();
    }

    async end(): Promise<void> {
        await this.plugin.close();
        delete process.env.PROBE_WORLD;
        rmSync(this.folder, { recursive: true });
    }

    #fileOf(id: string): string {
        return join(this.objects, `${id}.json`);
    }
}
