import { expect, test } from "vitest";
import { deletedIn } from "./workspaces";
import { YarnWorkspace } from "./yarn";

const STAMPS = 'import { Hidden as HiddenStamp, Label as Stamp } from "@acme/stamps";\n';
const LABELS = 'import { Hidden, Label } from "@acme/labels";\n';

test("providers in packages that yarn lays out delete, whatever its linker", () => {
    const it = new YarnWorkspace();
    it.install("pnp");
    it.ok("stack", "init", "dev");
    const all = ["a", "b", "c"].map((name) => `new Label("${name}"); new Stamp("${name}2");`).join("\n");
    it.up(`${LABELS}${STAMPS}${all}\nnew Hidden("hidden"); new HiddenStamp("hidden2");\n`);
    // A newer version of the installed package stands in another archive.
    it.install("pnp");
    it.up(`${LABELS}new Label("a"); new Label("b"); new Hidden("hidden");\n`);
    expect(deletedIn(it.project)).toEqual(["hidden", "label a2", "label b2", "label c", "label c2"]);
    it.install("pnpm");
    it.up(`${LABELS}${STAMPS}new Label("a"); new HiddenStamp("d"); new Stamp("e");\n`);
    it.install("node-modules");
    it.up(`${STAMPS}new Stamp("e");\n`);
    it.install("pnp");
    it.up("export const nothing = 1;\n");
    const labels = ["a", "a2", "b", "b2", "c", "c2", "e"].map((name) => `label ${name}`);
    expect(deletedIn(it.project)).toEqual(["hidden", "hidden", "hidden", ...labels]);
});

test("a project of Plug'n'Play says how to run it where that is missing", () => {
    const it = new YarnWorkspace();
    it.install("pnp");
    it.ok("stack", "init", "dev");
    it.project.write({ "infra/index.ts": `${LABELS}new Label("a");\n` });
    const { status, output } = it.project.runWith({}, "-C", `${it.project.directory}/infra`, "preview");
    expect(status).not.toBe(0);
    expect(output).toContain("run it as `yarn maloko ...`, or set `nodeLinker: node-modules` in .yarnrc.yml");
});
