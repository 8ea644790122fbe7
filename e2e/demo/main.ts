import { readStack } from "../support/stackFile";
import { booksChapter, depositChapter, restartChapter } from "./chain";
import { eventsChapter } from "./events";
import { keysChapter } from "./keys";
import { moneyChapter, outsideTransferChapter, refundChapter } from "./money";
import { recordsChapter } from "./records";
import { screen } from "./screen";
import { openWorld } from "./world";

/** Plays all chapters against the running stack. */
export async function main(): Promise<number> {
  const startMs = Date.now();
  try {
    const world = openWorld(readStack());
    await keysChapter(world);
    const cast = await moneyChapter(world);
    await outsideTransferChapter(world, cast);
    await recordsChapter(world, cast);
    await depositChapter(world, cast);
    await restartChapter(world, cast);
    await refundChapter(world, cast);
    await booksChapter(world, cast);
    await eventsChapter(world);
    screen.end(
      `The demo took ${Math.round((Date.now() - startMs) / 1000)} s. Documentation: ${world.stack.docsUrl}`,
    );
    return 0;
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
