import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Loads all protocol modules at once. kafkajs loads each one at its first use, and jest refuses to
 * load modules between two tests, which concurrent tests hit at random.
 */
export async function loadKafkajs(): Promise<void> {
  const folder = join(dirname(require.resolve("kafkajs")), "src/protocol");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files)
    if (file.endsWith(".js") && !file.endsWith(".spec.js")) await import(join(folder, file));
}
