import { join } from "node:path";

interface OldMonths {
  addOldMonths(ownerUrl: string): Promise<number>;
  detachOldestMonth(ownerUrl: string): Promise<string>;
}

/** Of the ledger's tests. */
export async function loadOldMonths(): Promise<OldMonths> {
  return (await import(join(__dirname, "../../../../ledger/src/commands/testing/oldMonths"))) as OldMonths;
}
