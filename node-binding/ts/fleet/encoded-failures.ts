// Has the messages and stacks of failures encrypted with everything else. The packages of the server load this file by its path.
import { DefaultFailureConverter } from "@temporalio/common";

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
