import { join } from "node:path";
import { openWorld, type World } from "./world";

/** Functions of the ledger's tests. */
interface OldMonths {
  addOldMonths(ownerUrl: string): Promise<number>;
  detachOldestMonth(ownerUrl: string): Promise<string>;
}

const DAY_MS = 24 * 3_600_000;

export interface OldWorld {
  world: World;
  /** A time in the journal's oldest month, which may leave. */
  oldMs: number;
  monthLeaves: () => Promise<string>;
}

/** A world whose journal began months ago. */
export async function openOldWorld(): Promise<OldWorld> {
  const path = join(__dirname, "../../../../ledger/src/commands/testing/oldMonths");
  const months = (await import(path)) as OldMonths;
  const world = await openWorld();
  const { ownerUrl } = world.databases.ledger;
  const oldMs = (await months.addOldMonths(ownerUrl)) + DAY_MS;
  // The ledger reads the list of months when it starts.
  await world.crash();
  return { world, oldMs, monthLeaves: () => months.detachOldestMonth(ownerUrl) };
}
