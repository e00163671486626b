// Makes dist/page.html: one file with its script and its style inside, and a token where the engine puts the data.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

/** The oldest browsers that show the page: what the syntax of script and style is brought down to. */
const OLDEST = ["chrome110", "firefox115", "safari16.4"];
const MAX_BYTES = 600_000;
const TOKEN = "@@MALOKO_DATA@@";
const here = (path) => new URL(path, import.meta.url).pathname;

async function bundled(entry, options) {
    const { outputFiles, metafile } = await build({
        entryPoints: [here(entry)],
        bundle: true,
        minify: true,
        write: false,
        metafile: true,
        charset: "utf8",
        legalComments: "none",
        target: OLDEST,
        logLevel: "warning",
        ...options,
    });
    return { text: outputFiles[0].text.trim(), inputs: Object.keys(metafile.inputs) };
}

/** The licences of the packages that are in the bundle: they have to come with every copy. */
function licences(inputs) {
    const names = inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
    return [...new Set(names)].sort().map((name) => {
        const folder = here(`node_modules/${name}`);
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
        const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : license;
        return `${name} ${version}\n\n${text.replaceAll("<", "")}\n`;
    });
}

const { text: script, inputs } = await bundled("src/main.tsx", {
    format: "iife",
    jsx: "automatic",
    jsxImportSource: "preact",
});
const { text: style } = await bundled("src/style/main.css", {});
const hash = `sha256-${createHash("sha256").update(script, "utf8").digest("base64")}`;
const parts = {
    "@@STYLE@@": style,
    "@@SCRIPT_HASH@@": hash,
    "@@SCRIPT@@": script,
    "@@LICENCES@@": licences(inputs).join("\n"),
};
// In one pass: what is put in is not looked through again.
const page = readFileSync(here("src/page.html"), "utf8").replace(
    /@@(STYLE|SCRIPT_HASH|SCRIPT|LICENCES)@@/g,
    (name) => parts[name],
);

const problems = [];
if (page.split(TOKEN).length !== 2) problems.push(`${TOKEN} has to stand in the page once`);
if (/<\/script/i.test(script)) problems.push("the script has the end of a script element in it");
if (/<\/style/i.test(style)) problems.push("the style has the end of a style element in it");
const bytes = Buffer.byteLength(page);
if (bytes > MAX_BYTES) problems.push(`the page has ${bytes} bytes, more than ${MAX_BYTES}`);
if (problems.length > 0) {
    process.stderr.write(`page: ${problems.join("; ")}\n`);
    process.exit(1);
}
mkdirSync(here("dist"), { recursive: true });
writeFileSync(here("dist/page.html"), page);
process.stdout.write(`page: dist/page.html, ${Math.round(bytes / 1000)} kB\n`);
