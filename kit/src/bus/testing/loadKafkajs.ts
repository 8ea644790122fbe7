import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * kafkajs loads each form of a message when it first comes upon it, and jest refuses what is loaded while it is between two tests, as it is when one of those that
 * run at once has ended: which of the others that hits is by chance. So all of them are loaded before.
 */
export async function loadKafkajs(): Promise<void> {
  const folder = join(dirname(require.resolve("kafkajs")), "src/protocol");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files)
    if (file.endsWith(".js") && !file.endsWith(".spec.js")) await import(join(folder, file));
}
