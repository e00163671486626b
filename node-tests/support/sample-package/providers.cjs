// Providers of a package: classes and constants that can be found again by their file and name.
"use strict";

const deleted = [];

class Shipped {
    constructor(label) {
        this.label = label;
        Shipped.built += 1;
    }

    async create() {
        return { id: `${this.label}-1`, outs: {} };
    }

    async delete(id) {
        deleted.push([this.label, id]);
    }
}
Shipped.built = 0;

class Configured {
    constructor(label) {
        this.label = label;
    }

    async configure(request) {
        this.token = request.config.require("token");
        deleted.push(["configure", this.token]);
    }

    async create() {
        return { id: "made", outs: {} };
    }

    async delete(id) {
        deleted.push([this.token, id]);
    }
}

class Secretive {
    #secret = "hidden";

    async create() {
        return { id: this.#secret, outs: {} };
    }

    async delete() {}
}

const constant = {
    async create() {
        return { id: "constant", outs: {} };
    },
    async delete(id) {
        deleted.push(["constant", id]);
    },
};

module.exports = { Shipped, Configured, Secretive, constant, deleted };
