// How the documents are read (make verify-prose). Words and phrases to avoid stand in the glossary, where people read them.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const GLOSSARY = join(process.env.MALOKO_ROOT, "docs", "reference", "glossary.md");
const [, section = ""] = readFileSync(GLOSSARY, "utf8").split("\n## Phrases to avoid\n");
const terms = [...section.matchAll(/^\| `([^`]+)` \| (.+?) \|/gm)].map(([, pattern, plainer]) => [
    // A cell of a table has no bar of its own.
    `\\b(?:${pattern.replaceAll(" / ", "|")})\\b`,
    plainer,
]);
if (terms.length === 0) {
    throw new Error("the glossary has no phrases to avoid: has its last section another form?");
}

module.exports = {
    rules: {
        terminology: { defaultTerms: false, skip: ["BlockQuote"], terms: ["TypeScript", "PostgreSQL", ...terms] },
        // One idea a sentence. A semicolon counts as an end.
        "en-max-word-count": { max: 30 },
        // The rest of its checks warn of what is right more often than not here.
        "write-good": {
            adverb: false,
            cliches: true,
            illusion: true,
            passive: false,
            so: false,
            thereIs: false,
            tooWordy: false,
            weasel: false,
        },
    },
};
