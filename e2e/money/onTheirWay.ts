import { setTimeout as sleep } from "node:timers/promises";
import { rawSql } from "@wonrail/kit/db";
import { type Stack } from "@wonrail/local/stackFile";
import { asAdmin } from "../support/asAdmin";

/** Work that is still going on, as an operator counts it. */
export const ON_THEIR_WAY = {
  "transfers without an end": "select count(*) from payment.transfers where status = 'PENDING'",
  "events of ledger": "select count(*) from ledger.outbox_pending",
};
export type Kind = keyof typeof ON_THEIR_WAY;

const PAUSE_MS = 100;

/** Waits until there is nothing of these kinds, and fails with what there is. */
export function untilNone(stack: Stack, kinds: Kind[], withinMs: number): Promise<void> {
  return asAdmin(stack, "public", async (db) => {
    for (const endMs = Date.now() + withinMs; ; await sleep(PAUSE_MS)) {
      const left: Partial<Record<Kind, number>> = {};
      for (const kind of kinds) {
        const { count } = await db.one<{ count: bigint }>(rawSql(ON_THEIR_WAY[kind]));
        if (count > 0n) left[kind] = Number(count);
      }
      if (Object.keys(left).length === 0) return;
      if (Date.now() > endMs) throw new Error(`still on their way: ${JSON.stringify(left)}`);
    }
  });
}
