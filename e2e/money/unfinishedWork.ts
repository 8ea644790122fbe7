import { setTimeout as sleep } from "node:timers/promises";
import { rawSql } from "@wonrail/kit/db";
import { type Stack } from "@wonrail/local/stackFile";
import { asAdmin } from "../support/asAdmin";

/** Unfinished work, as an operator counts it: the schema and the statement. */
export const UNFINISHED_WORK = {
  "transfers without an end": ["payment", "select count(*) from transfers where status = 'PENDING'"],
  "events of ledger": ["ledger", "select count(*) from outbox_pending"],
} as const;
export type Kind = keyof typeof UNFINISHED_WORK;

const PAUSE_MS = 100;

/** Waits until no work of these kinds is open. Fails with the counts after the given time. */
export async function untilNone(stack: Stack, kinds: Kind[], withinMs: number): Promise<void> {
  for (const endMs = Date.now() + withinMs; ; await sleep(PAUSE_MS)) {
    const left: Partial<Record<Kind, number>> = {};
    for (const kind of kinds) {
      const count = await countOf(stack, kind);
      if (count > 0) left[kind] = count;
    }
    if (Object.keys(left).length === 0) return;
    if (Date.now() > endMs) throw new Error(`still on their way: ${JSON.stringify(left)}`);
  }
}

async function countOf(stack: Stack, kind: Kind): Promise<number> {
  const [schema, statement] = UNFINISHED_WORK[kind];
  return asAdmin(stack, schema, async (db) => {
    const { count } = await db.one<{ count: bigint }>(rawSql(statement));
    return Number(count);
  });
}
