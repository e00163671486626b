// How the engine's file is called on a platform: the name under which the package has it, and that of cargo.
"use strict";

/** `linux-x64-gnu`, `darwin-arm64`, ...: the platform of this process. */
function platformKey() {
    if (process.platform !== "linux") {
        return `${process.platform}-${process.arch}`;
    }
    const header = process.report?.getReport().header;
    return `linux-${process.arch}-${header?.glibcVersionRuntime === undefined ? "musl" : "gnu"}`;
}

/** What cargo makes, by Node's name of the system. */
const LIBRARIES = { darwin: "libmaloko_node.dylib", linux: "libmaloko_node.so", win32: "maloko_node.dll" };

module.exports = { LIBRARIES, platformKey };
