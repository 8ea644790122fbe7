import { readStack } from "../support/stackFile";
import { booksChapter, depositChapter, restartChapter } from "./chain";
import { eventsChapter } from "./events";
import { keysChapter } from "./keys";
import { moneyChapter, outsideTransferChapter, payoutChapter, refundChapter } from "./money";
import { recordsChapter } from "./records";
import { reportsChapter } from "./reports";
import { sandboxChapter } from "./sandbox";
import { screen } from "./screen";
import { openDemo } from "./demo";
import { x402Chapter } from "./x402";

/** Plays all chapters against the running stack. */
export async function main(): Promise<number> {
  const startMs = Date.now();
  try {
    const demo = openDemo(readStack());
    await keysChapter(demo);
    const cast = await moneyChapter(demo);
    await payoutChapter(demo, cast);
    await outsideTransferChapter(demo, cast);
    await recordsChapter(demo, cast);
    await depositChapter(demo, cast);
    await x402Chapter(demo, cast);
    await reportsChapter(demo, cast);
    await sandboxChapter(demo, cast);
    await restartChapter(demo, cast);
    await refundChapter(demo, cast);
    await booksChapter(demo, cast);
    await eventsChapter(demo);
    screen.end(
      `The demo took ${Math.round((Date.now() - startMs) / 1000)} s. Documentation: ${demo.stack.docsUrl}`,
    );
    return 0;
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
