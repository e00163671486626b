"use strict";
// What a process holds of the kernel, for tests of what is left behind.
const { readdirSync } = require("node:fs");
const { setTimeout: pause } = require("node:timers/promises");

const PATIENCE_MS = 30_000;
const entries = (kind) => readdirSync(`/proc/self/${kind}`).length;
const held = () => ({ threads: entries("task"), files: entries("fd") });

/** What is held once it is no more than `before` (one fewer is no leak: what was about to end then has ended), or after half a minute: what
 *  has ended is listed for a moment longer, what is left behind is listed for good. */
exports.settled = async (before) => {
    const end = Date.now() + PATIENCE_MS;
    let now = held();
    while ((now.threads > before.threads || now.files > before.files) && Date.now() < end) {
        await pause(10);
        now = held();
    }
    return now;
};
exports.held = held;
