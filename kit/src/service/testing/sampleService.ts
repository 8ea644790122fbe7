// A small service in its own process, which only a signal stops. Writes a line per event.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { z } from "zod";
import { durationMs, loadConfig } from "../../config";
import { implement } from "../../grpc/server";
import { runService, serviceRules, serviceShape } from "..";

/** A service without migrations still needs their folder. */
const migrations = mkdtempSync(join(tmpdir(), "sample-migrations-"));
process.once("exit", () => rmSync(migrations, { recursive: true }));
const sampleShape = {
  SAMPLE_TOPIC: z.string(),
  SAMPLE_CALL_MS: durationMs.default(0),
  /** Each call leaves an uncaught error of this kind behind. */
  SAMPLE_LEAKS: z.enum(["exception", "rejection"]).optional(),
};
const { SAMPLE_TOPIC, SAMPLE_CALL_MS, SAMPLE_LEAKS, ...config } = loadConfig(
  z.object({ ...serviceShape, ...sampleShape }),
  process.env,
  serviceRules,
);

function leak(): void {
  if (SAMPLE_LEAKS === "rejection") void Promise.reject(new Error("leaked rejection"));
  if (SAMPLE_LEAKS !== "exception") return;
  setImmediate(() => {
    throw new Error("leaked exception");
  });
}

void runService({
  name: "sample",
  migrations,
  topics: [{ name: SAMPLE_TOPIC, partitions: 2 }],
  feeds: [{ topic: SAMPLE_TOPIC, service: "sample", address: `127.0.0.1:${config.GRPC_PORT}` }],
  config,
  open: ({ onClose }) => {
    onClose("sample", () => undefined);
    return {
      rpc: [
        implement(AuthServiceService, {
          async revokeKey() {
            process.stdout.write("called\n");
            leak();
            await sleep(SAMPLE_CALL_MS);
            return { revokedAt: new Date(), revokedKeyIds: [] };
          },
        }),
      ],
      consumers: [
        {
          group: SAMPLE_TOPIC,
          topics: [SAMPLE_TOPIC],
          handlers: {
            sent: async (_tx, { aggregateId }) => void process.stdout.write(`got ${aggregateId}\n`),
          },
        },
      ],
      jobs: [{ name: "tick", everyMs: 100, run: async () => void process.stdout.write("tick\n") }],
    };
  },
});
