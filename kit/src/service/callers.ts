import { readFileSync } from "node:fs";
import { type CallerRules, type GrpcService } from "../grpc/server";

/** Service → method → allowed callers. */
type CallerTable = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** In the table: the process that serves the method, for operators' commands in its own pod. */
const SELF = "self";

/** The part of proto/callers.json for the gRPC services of a process. */
export function callersOf(process: string, services: readonly GrpcService[]): CallerRules {
  const table = JSON.parse(readFileSync(require.resolve("@wonrail/proto/callers"), "utf8")) as CallerTable;
  const names = new Set(
    services.flatMap(({ definition }) => Object.values(definition).map(({ path }) => path.split("/")[1]!)),
  );
  return Object.fromEntries(
    [...names].flatMap((service) =>
      Object.entries(table[service] ?? {}).map(([method, callers]) => [
        `${service}/${method}`,
        callers.map((caller) => (caller === SELF ? process : caller)),
      ]),
    ),
  );
}
