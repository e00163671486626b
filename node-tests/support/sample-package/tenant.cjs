"use strict";

// Keeps what it was configured with in every way that a provider may.
class Tenant {
    constructor(region = "north") {
        this.region = region;
        this.headers = { agent: "test" };
        this.hosts = [];
        this.made = [];
    }

    async configure({ config }) {
        const token = config.get("token");
        await Promise.resolve();
        this.lock = new Map();
        if (token !== undefined) {
            this.token = token;
            this.headers.authorization = `Bearer ${token}`;
            this.hosts.push(`${token}.example.org`);
        }
    }

    seen() {
        return [this.token ?? "none", this.headers.authorization ?? "none", ...this.hosts];
    }

    async create(props) {
        this.made.push(props.name);
        return { id: props.name, outs: { ...props, seen: this.seen() } };
    }

    async delete(_id, props) {
        if (props.seen.join() !== this.seen().join()) {
            throw new Error(`made with ${props.seen}, deleted with ${this.seen()}`);
        }
    }
}

exports.Tenant = Tenant;
