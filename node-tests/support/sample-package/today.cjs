// A provider that notes the configuration and the environment of its calls.
"use strict";

const seen = [];

const note = (method, token) => seen.push(`${method} with ${token} at ${process.env.MALOKO_TEST_ADDRESS}`);

class Today {
    constructor(token) {
        this.token = token;
    }

    async configure(request) {
        this.token = request.config.require("token");
    }

    async create() {
        note("create", this.token);
        return { id: "made", outs: {} };
    }

    async read(id, props) {
        note("read", this.token);
        return { id, props };
    }

    async delete() {
        note("delete", this.token);
    }
}

module.exports = { Today, seen };
