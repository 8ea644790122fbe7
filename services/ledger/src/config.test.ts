import { configProblems } from "@wonrail/kit/testing";
import { readConfig } from "./config";

function problems(more: Record<string, string>): string[] {
  const env = {
    DATABASE_URL: "postgres://own/db",
    BUS: "feed",
    GRPC_HOST: "127.0.0.1",
    GRPC_PORT: "0",
    OPS_PORT: "0",
  };
  return configProblems((exit) => readConfig({ ...env, ...more }, exit));
}

test("a queue smaller than one batch is a problem of MAX_QUEUE, whichever setting was given", () => {
  expect(problems({ MAX_QUEUE: "1000" })).toEqual([]);
  expect(problems({ MAX_QUEUE: "999" })).toEqual([
    "  - MAX_QUEUE must be MAX_BATCH, 1000, or more: it is 999",
  ]);
  expect(problems({ MAX_BATCH: "30000" })).toEqual([
    "  - MAX_QUEUE must be MAX_BATCH, 30000, or more: it is 20000",
  ]);
});
