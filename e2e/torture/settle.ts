import { setTimeout as sleep } from "node:timers/promises";
import { rawSql, sql } from "@wonrail/kit/db";
import { ServiceClient } from "@wonrail/sdk";
import { asAdmin } from "../support/asAdmin";
import { type World } from "./world/openWorld";

const UNPUBLISHED = { "unpublished events": "select count(*) from outbox_pending" };
/** Statements that count unfinished work, by schema. */
const UNFINISHED: Record<string, Record<string, string>> = {
  auth: UNPUBLISHED,
  wallet: {
    "wallets under way": "select count(*) from wallets where status in ('OPENING', 'DEACTIVATING')",
    ...UNPUBLISHED,
  },
  ledger: { "holds without an end": "select count(*) from holds where state = 'open'", ...UNPUBLISHED },
  payment: {
    "transfers without an end": "select count(*) from transfers where status = 'PENDING'",
    "settlements without an end": "select count(*) from settlements where status = 'SUBMITTED'",
  },
  chain_relayer: {
    "unsettled operations":
      "select count(*) from operations where state not in ('CONFIRMED', 'FAILED', 'PASSED')",
    "entries that are not pulled":
      "select count(*) from settlement_queues where head_sequence > cursor_sequence",
    "deposits without a credit": "select count(*) from deposits where state = 'SEEN'",
    "records under way": "select count(*) from records where run in ('WAITING', 'STARTED', 'SENT')",
    ...UNPUBLISHED,
  },
  events: {
    "settlements without an entry": "select count(*) from early_settlements",
    "undelivered events": "select count(*) from deliveries where status = 'PENDING'",
    ...UNPUBLISHED,
  },
};
const LOOK_EVERY_MS = 1_000;
/** No new work appears for this long. */
const QUIET_MS = 2_000;
/** The pause after a first failed attempt is shorter. The next one takes minutes. */
const LONG_PAUSE_S = 10;
const REPLAY_EVERY_MS = 2_000;
const REPORT_EVERY_MS = 5_000;

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
export async function untilSettled(
  world: World,
  { withinMs, report }: { withinMs: number; report: (line: string) => void },
): Promise<Record<string, number>> {
  const head = Number(await world.chain.node.rpc<string>("eth_blockNumber"));
  let quietSince: number | undefined;
  let replayedMs = 0;
  let reportedMs = 0;
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
    if (quietSince === undefined && Date.now() - reportedMs > REPORT_EVERY_MS) {
      reportedMs = Date.now();
      report(`open: ${describe(open)}`);
    }
  }
}

function describe(open: Record<string, number>): string {
  return Object.entries(open)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}

/** A connection for each schema costs more than its statements. */
async function openWork({ stack }: World): Promise<Record<string, number>> {
  const counts = await Promise.all(
    Object.entries(UNFINISHED).map(([schema, statements]) =>
      asAdmin(stack, schema, async (db) => {
        const found: [string, number][] = [];
        for (const [name, statement] of Object.entries(statements)) {
          const { count } = await db.one<{ count: bigint }>(rawSql(statement));
          if (count > 0n) found.push([`${name} of ${schema}`, Number(count)]);
        }
        return found;
      }),
    ),
  );
  return Object.fromEntries(counts.flat());
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
