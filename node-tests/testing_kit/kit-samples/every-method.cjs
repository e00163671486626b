// A provider with every method, in plain JavaScript: what is covered of it and where it can be stopped is for
// kit_coverage.test.ts.
const { readFileSync } = require("node:fs");

class EveryMethod {
    configure(request) {
        return void request.config.get("region");
    }

    async check(_olds, news) {
        const failures = news.size > 9 ? [{ property: "size", reason: "too large" }] : [];
        return { inputs: news, failures };
    }

    async diff(_id, olds, news) {
        if (olds.size === news.size) {
            return { changes: false };
        }
        return { changes: true };
    }

    async create(inputs) {
        await Promise.resolve();
        return { id: "made", outs: inputs };
    }

    async read(id, props) {
        return { id, props };
    }

    async update(_id, _olds, news) {
        return { outs: news };
    }

    async delete(id) {
        return void id;
    }

    /** The line, from 0, at which a method's body begins. */
    static lineOf(method) {
        const lines = readFileSync(__filename, "utf8").split("\n");
        return lines.findIndex((line) => new RegExp(`^ {4}(async )?${method}\\(`).test(line)) + 1;
    }
}

module.exports = { EveryMethod };
