import { readFileSync } from "node:fs";
import { type CallerRules, type GrpcService } from "../grpc/server";

/** Service → method → allowed callers. */
type CallerTable = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The part of proto/callers.json for these services. */
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
