import { z } from "zod";
import { type QuotaName } from "../middleware/quotas";
import { type Call, operation, type Reply, route, type Route } from "../routes/operation";

/** A route like the money routes, with a handler from the test. */
export function countedRoute(
  path: string,
  quota: QuotaName | undefined,
  work: (call: Call) => Promise<Reply<{ done: boolean }>>,
): Route {
  const definition = operation({
    id: "countedTest",
    tag: "Payments",
    summary: "For tests",
    access: "full",
    idempotent: true,
    ...(quota === undefined ? {} : { quota }),
    body: z.strictObject({ amount: z.int() }),
    status: 201,
    data: z.strictObject({ done: z.boolean() }),
    errors: [],
  });
  return route("POST", path, definition, (_input, call) => work(call));
}
