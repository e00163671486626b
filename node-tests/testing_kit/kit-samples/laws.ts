// Laws and lifecycles as an author has them in vitest.
import { laws, lifecycle } from "maloko/vitest";
import { bucketInputs, GoodProvider, Service } from "../../support/planted";

const options = { inputs: bucketInputs, world: Service, examples: 3, seed: 20 };

laws(GoodProvider, { ...options, waive: { L13: "the service has no idempotency key" } });
lifecycle(GoodProvider, options);
