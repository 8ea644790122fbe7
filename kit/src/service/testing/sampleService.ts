// A service in small, as a process of its own: it may only be stopped by a signal. Says each event that it is told of on a line of its output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { loadConfig } from "../../config";
import { runService, serviceShape } from "..";

/** A service may have no migrations of its own, but it has a folder of them. */
const migrations = mkdtempSync(join(tmpdir(), "sample-migrations-"));
process.once("exit", () => rmSync(migrations, { recursive: true }));
const { SAMPLE_TOPIC, ...config } = loadConfig(
  z.object({ ...serviceShape, SAMPLE_TOPIC: z.string() }),
  process.env,
);

void runService({
  name: "sample",
  migrations,
  topics: [{ name: SAMPLE_TOPIC, partitions: 2 }],
  config,
  open: () => ({
    rpc: [],
    consumers: [
      {
        group: SAMPLE_TOPIC,
        topics: [SAMPLE_TOPIC],
        handlers: { sent: async (_tx, { aggregateId }) => void process.stdout.write(`got ${aggregateId}\n`) },
      },
    ],
    jobs: [{ name: "tick", everyMs: 100, run: async () => void process.stdout.write("tick\n") }],
  }),
});
