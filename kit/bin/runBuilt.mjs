// Runs the compiled half of a command. Whatever keeps it from running ends with 2: 1 says that something was refused, or does not hold.
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

/** As the first process of a container it would hear no signal that it does not ask for, and wait on for what does not answer. */
function endOnSignals() {
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

/** Who reads no further, as `head` does, has what was wanted. The work is done to its end all the same, and the exit code tells of it alone. */
function surviveReaders() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}
