import { setTimeout as sleep } from "node:timers/promises";
import { rawSql, sql } from "@wonrail/kit/db";
import { ServiceClient } from "@wonrail/sdk";
import { asAdmin } from "../support/asAdmin";
import { type World } from "./world/openWorld";

/** Counts of unfinished work: the schema and the statement. */
const UNFINISHED: Record<string, readonly [schema: string, statement: string]> = {
  "transfers without an end": ["payment", "select count(*) from transfers where status = 'PENDING'"],
  "holds without an end": ["ledger", "select count(*) from holds where state = 'open'"],
  "settlements without an entry": ["events", "select count(*) from early_settlements"],
  "settlements without an end": ["payment", "select count(*) from settlements where status = 'SUBMITTED'"],
  "unsettled operations": [
    "chain_relayer",
    "select count(*) from operations where state not in ('CONFIRMED', 'FAILED', 'PASSED')",
  ],
  "entries that are not pulled": [
    "chain_relayer",
    "select count(*) from settlement_queues where head_sequence > cursor_sequence",
  ],
  "deposits without a credit": ["chain_relayer", "select count(*) from deposits where state = 'SEEN'"],
  "records under way": [
    "chain_relayer",
    "select count(*) from records where run in ('WAITING', 'STARTED', 'SENT')",
  ],
  "wallets under way": ["wallet", "select count(*) from wallets where status in ('OPENING', 'DEACTIVATING')"],
  "undelivered events": ["events", "select count(*) from deliveries where status = 'PENDING'"],
  ...Object.fromEntries(
    ["auth", "wallet", "ledger", "chain_relayer", "events"].map((schema) => [
      `unpublished events of ${schema}`,
      [schema, "select count(*) from outbox_pending"] as const,
    ]),
  ),
};
const LOOK_EVERY_MS = 500;
/** No new work appears for this long. */
const QUIET_MS = 2_000;
/** The pause after a first failed attempt is shorter. The next one takes minutes. */
const LONG_PAUSE_S = 10;
const REPLAY_EVERY_MS = 2_000;

/** Ends every fault that may be left: also one whose end failed. */
export async function heal({ links, postgres, chain, receiver, replicas }: World): Promise<void> {
  for (const link of links.all) link.setMode({ kind: "pass" });
  for (const endpoint of chain.endpoints) chain.leadTo(endpoint, "node");
  chain.liar.tellTheTruth();
  chain.faulty.setRate(0);
  receiver.setMode("up");
  postgres.disk?.free();
  await postgres.start();
  await chain.node.rpc("anvil_setNextBlockBaseFeePerGas", ["0x3b9aca00"]);
  await chain.setPaused(false);
  for (const replica of replicas) {
    replica.signal("SIGCONT");
    replica.start();
  }
  await Promise.all(replicas.map((replica) => replica.untilReady()));
}

/**
 * Waits until no work is open. Returns the open work when the time is over. Partners ask meanwhile
 * for the deliveries that pause for minutes, as after a repair of their endpoint.
 */
export async function untilSettled(world: World, withinMs: number): Promise<Record<string, number>> {
  const head = Number(await world.chain.node.rpc<string>("eth_blockNumber"));
  let quietSince: number | undefined;
  let replayedMs = 0;
  for (const endMs = Date.now() + withinMs; ; await sleep(LOOK_EVERY_MS)) {
    if (Date.now() - replayedMs > REPLAY_EVERY_MS) {
      replayedMs = Date.now();
      await replayPausedDeliveries(world);
    }
    const open = { ...(await openWork(world)), ...(await openBlocks(world, head)) };
    if (Object.keys(open).length > 0) quietSince = undefined;
    else quietSince ??= Date.now();
    const isQuiet = quietSince !== undefined && Date.now() - quietSince >= QUIET_MS;
    if (isQuiet || Date.now() > endMs) return open;
  }
}

async function openWork({ stack }: World): Promise<Record<string, number>> {
  const counts = await Promise.all(
    Object.entries(UNFINISHED).map(async ([name, [schema, statement]]) => {
      const { count } = await asAdmin(stack, schema, (db) => db.one<{ count: bigint }>(rawSql(statement)));
      return [name, Number(count)] as const;
    }),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** The last blocks may have deposits, which chain-relayer credits once the blocks are final. */
async function openBlocks({ stack }: World, head: number): Promise<Record<string, number>> {
  const row = await asAdmin(stack, "chain_relayer", (db) =>
    db.maybe<{ block_number: bigint }>(sql`select block_number from scan_cursor`),
  );
  const left = head - Number(row?.block_number ?? 0);
  return left > 0 ? { "blocks that are not indexed": left } : {};
}

/** A delivery that is overdue stays open: the replay includes those with a later attempt only. */
async function replayPausedDeliveries({ stack, organisations, gatewayUrls }: World): Promise<void> {
  const paused = await asAdmin(stack, "events", (db) =>
    db.query<{ org_id: string; webhook_id: string }>(
      sql`select distinct org_id, webhook_id from deliveries
        where status = 'PENDING' and next_attempt_at > now() + ${LONG_PAUSE_S} * interval '1 second'`,
    ),
  );
  for (const { org_id: orgId, webhook_id: webhookId } of paused) {
    const { apiKey } = organisations.find(({ id }) => id === orgId)!;
    const sdk = new ServiceClient({ baseUrl: gatewayUrls[0]!, apiKey });
    await sdk.webhooks.replay(webhookId, { failed: true });
  }
}
