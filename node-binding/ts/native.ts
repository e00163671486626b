// Loads the addon of this platform.
import * as fs from "node:fs";
import * as path from "node:path";

type Addon = typeof import("../native");

/** The addon's side of a thread, and what it tells. */
export type {
    Bridge as NativeBridge,
    LawTrial,
    LifeTrial,
    Message as NativeMessage,
    PluginLife as NativePluginLife,
    PluginUnderTest as NativePlugin,
    TestStack as NativeStack,
} from "../native";

// Plain JavaScript: the build needs it before this is compiled.
const { platformKey } = require("../bin/platform.js") as { platformKey: () => string };

let addon: Addon | undefined;

/** The addon; an error that names the platform and the way out when there is none. */
export function loadAddon(): Addon {
    if (addon !== undefined) {
        return addon;
    }
    const root = path.resolve(__dirname, "..");
    // Asking for the C library is slow (it makes a whole report): look for the usual file first.
    const usual = path.join(
        root,
        `maloko.${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}.node`,
    );
    const file = fs.existsSync(usual) && !isMusl() ? usual : path.join(root, `maloko.${platformKey()}.node`);
    if (!fs.existsSync(file)) {
        const present = fs
            .readdirSync(root)
            .filter((name) => name.endsWith(".node"))
            .map((name) => name.slice("maloko.".length, -".node".length));
        throw new Error(
            `maloko has no engine for ${platformKey()} in ${root} (there: ${present.join(", ") || "none"}). ` +
                "Install the package on the platform that runs it (a node_modules folder copied from another machine " +
                "does not work). For a platform without a prebuilt engine, install maloko-VERSION-source.tgz: with Rust and a C " +
                "compiler it builds one; where the package manager runs no install scripts, by `node node_modules/maloko/bin/build.js`.",
        );
    }
    try {
        addon = require(file) as Addon;
    } catch (error) {
        throw new Error(
            `maloko's engine ${file} could not be loaded on ${platformKey()}, Node ${process.version}: ` +
                `${(error as Error).message}. Remove node_modules/maloko and install it again on this machine.`,
            { cause: error },
        );
    }
    return addon;
}

// musl systems have its loader under this name; cheaper to look for than asking Node.
function isMusl(): boolean {
    return (
        process.platform === "linux" &&
        fs.existsSync(`/lib/ld-musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`) &&
        !fs.existsSync("/lib64/ld-linux-x86-64.so.2") &&
        !fs.existsSync("/lib/ld-linux-aarch64.so.1")
    );
}
