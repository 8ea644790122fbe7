import { readFileSync } from "node:fs";
import { type CallerRules, type GrpcService } from "../grpc/server";

/** Service → method → who may call it. */
type CallerTable = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The part of the product's one table that is about these services; see proto/callers.json. */
export function callersOf(services: readonly GrpcService[]): CallerRules {
  const table = JSON.parse(readFileSync(require.resolve("@wonrail/proto/callers"), "utf8")) as CallerTable;
  const names = new Set(
    services.flatMap(({ definition }) => Object.values(definition).map(({ path }) => path.split("/")[1]!)),
  );
  return Object.fromEntries(
    [...names].flatMap((service) =>
      Object.entries(table[service] ?? {}).map(([method, callers]) => [`${service}/${method}`, callers]),
    ),
  );
}
