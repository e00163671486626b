// Which files of `ts` may name which (npm run lint). Types count as well: a reader follows them all the same.

// What lies in a folder, the lowest first: each file and folder may name those before it. What is not here is named by nobody.
const ORDER = {
    ts: "native originals current process sdk loading providers run command-line testing automation fleet",
    "ts/testing":
        "frames judgement page supported values direct redaction worlds serializers " +
        "stack matchers recorded kit crash laws lifecycle index runner",
};

const upwards = Object.entries(ORDER).flatMap(([folder, order]) =>
    order.split(" ").map((name, at, names) => ({
        name: `${folder}/${name}-is-lower`,
        severity: "error",
        from: { path: `^${folder}/${name}[./]` },
        to: { path: `^${folder}/(?!(${names.slice(0, at + 1).join("|")})[./])` },
    })),
);

module.exports = {
    forbidden: [
        { name: "circle-of-files", severity: "error", from: {}, to: { circular: true } },
        { name: "circle-of-folders", scope: "folder", severity: "error", from: {}, to: { circular: true } },
        ...upwards,
    ],
    options: { includeOnly: "^ts/", tsPreCompilationDeps: true, tsConfig: { fileName: "tsconfig.json" } },
};
