// Laws and lifecycles as an author has them in jest.
const { laws, lifecycle } = require("maloko/jest");
const { World, Provider } = require("./boxes.cjs");

const inputs = [
    { name: "one", size: 1 },
    { name: "two", size: 1 },
    { name: "two", size: 2 },
];

laws(Provider, { inputs, world: World, waive: { L13: "the service has no idempotency key" } });
lifecycle(Provider, { inputs, world: World, examples: 3, seed: 20 });
