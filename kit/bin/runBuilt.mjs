// Runs the compiled part of a command. A failure to run exits with 2, because 1 means that the
// command refused or found a violation.
import { existsSync } from "node:fs";

export async function runBuilt(file) {
  endOnSignals();
  surviveReaders();
  process.exitCode = 2;
  if (!existsSync(file)) {
    process.stderr.write(
      "The commands are not built yet. Run npm run build first; npm run up does it too.\n",
    );
    return;
  }
  try {
    const { main } = await import(file);
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(error);
  }
}

/** As the first process of a container it must handle signals itself. */
function endOnSignals() {
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

/**
 * A reader such as `head` may close the pipe early. The work still finishes and decides the exit
 * code.
 */
function surviveReaders() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
