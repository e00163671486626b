// All in Node alone: the module systems, TypeScript and its compiler
import { expect, test } from "vitest";
import { atNight } from "../support/night";
import { deletedIn } from "../support/workspaces";
import { YarnWorkspace } from "./yarn";

const nightly = atNight(test);

const STAMPS = 'import { Hidden as HiddenStamp, Label as Stamp } from "@acme/stamps";\n';
const LABELS = 'import { Hidden, Label } from "@acme/labels";\n';

nightly("providers in packages that yarn lays out delete, whatever its linker", () => {
    const it = new YarnWorkspace();
    it.install("node-modules");
    it.ok("stack", "init", "dev");
    it.up(`${LABELS}${STAMPS}new Label("a"); new Stamp("b"); new Hidden("c"); new HiddenStamp("d");\n`);
    // Each has a newer version of the installed package, in another archive.
    it.install("pnp");
    it.up(`${LABELS}${STAMPS}new Hidden("c"); new HiddenStamp("d"); new Label("e"); new Stamp("f"); new Stamp("g");\n`);
    expect(deletedIn(it.project)).toEqual(["label a", "label b"]);
    it.install("pnp");
    it.up(`${LABELS}new Label("e");\n${STAMPS}new Stamp("g");\n`);
    expect(deletedIn(it.project)).toEqual(["hidden", "hidden", "label a", "label b", "label f"]);
    it.install("pnpm");
    it.up("export const nothing = 1;\n");
    expect(deletedIn(it.project)).toEqual([
        "hidden",
        "hidden",
        ...["a", "b", "e", "f", "g"].map((it) => `label ${it}`),
    ]);
});

nightly("a project of Plug'n'Play says how to run it where that is missing", () => {
    const it = new YarnWorkspace();
    it.install("pnp");
    it.ok("stack", "init", "dev");
    it.project.write({ "infra/index.ts": `${LABELS}new Label("a");\n` });
    const { status, output } = it.project.runWith({}, "-C", `${it.project.directory}/infra`, "preview");
    expect(status).not.toBe(0);
    expect(output).toContain("run it as `yarn maloko ...`, or set `nodeLinker: node-modules` in .yarnrc.yml");
});
