// maloko: Pulumi programs with dynamic providers, deployed inside this process.
import * as fs from "node:fs";
import * as path from "node:path";

export { currentCall, type ProviderCall } from "./current";
export { type ProviderFactory, type ProviderOptions, registerProvider } from "./providers/registered";
export { TryLater } from "./providers/transience";
export { type Checked, type Schema, TypedProvider, type Validated } from "./providers/typed";

/** The version of this package. */
export const version: string = (
    JSON.parse(fs.readFileSync(path.join(__dirname, "..", "package.json"), "utf8")) as { version: string }
).version;
