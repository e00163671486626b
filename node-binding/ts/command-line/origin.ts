// Where this package was installed from.
import * as fs from "node:fs";
import * as path from "node:path";
import { OWN_DIRECTORY } from "../process/own-files";

/** The file or directory that this package was installed from; empty when that was a registry, or is not known. */
export function installedFrom(): string {
    return originOf(path.dirname(OWN_DIRECTORY));
}

// npm, pnpm, yarn and bun all write into package.json what they were asked for; a package of a registry has a range there.
function originOf(place: string): string {
    for (let above = place; path.dirname(above) !== above; above = path.dirname(above)) {
        if (path.basename(above) !== "node_modules") {
            continue;
        }
        const project = path.dirname(above);
        const wanted = wantedBy(path.join(project, "package.json"));
        const file = wanted === undefined ? undefined : /^(?:file:|link:)?(.*)$/s.exec(wanted)?.[1];
        const isFile = wanted !== undefined && /^(file:|link:|\.{0,2}\/)|\.tgz$/.test(wanted);
        if (file !== undefined && isFile) {
            const whole = path.resolve(project, file);
            return fs.existsSync(whole) ? whole : "";
        }
    }
    return "";
}

function wantedBy(manifest: string): string | undefined {
    try {
        const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
            fs.readFileSync(manifest, "utf8"),
        ) as Record<string, Record<string, string> | undefined>;
        return dependencies?.maloko ?? devDependencies?.maloko ?? optionalDependencies?.maloko;
    } catch {
        return undefined;
    }
}
