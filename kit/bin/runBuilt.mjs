// Runs the compiled half of a command. Whatever keeps it from running ends with 2: 1 says that something was refused, or does not hold.
import { existsSync } from "node:fs";

export async function runBuilt(file) {
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
