import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Id, isId } from "@wonrail/kit/contract/ids";
import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { enumName } from "@wonrail/kit/grpc/server";
import { appendEvents, findLostSince } from "@wonrail/kit/outbox";
import { type ReadOwnTopic } from "@wonrail/kit/service";
import { WalletCreated, WalletUpdated } from "@wonrail/proto/wallet/events/v1/events";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { TOPICS } from "../events";
import { type Keyring } from "../keys/keyring";
import { type LostWallet, insertLostWallet, moveLostWallet } from "../store/lostWallets";
import { findWallet } from "../store/wallets";
import { findKnownSeed, type SeedDeps } from "./createWallet";

export interface ReenterDeps extends SeedDeps {
  db: Database;
  keyring: Keyring;
  readOwnTopic: ReadOwnTopic;
}

export interface Reentered {
  wallets: number;
  /** Events whose change the database has. */
  known: number;
  problems: string[];
}

/**
 * After a restore of the database: stores the wallets again that only Kafka has, and their later
 * changes. Each change is published again for the services that were restored too.
 */
export async function reenterLostWallets(deps: ReenterDeps, operator: ActingOperator): Promise<Reentered> {
  const { db, readOwnTopic } = deps;
  const since = await findLostSince(db);
  // Recorded first: wallets are stored in many transactions.
  await tx(db, (tx) =>
    recordOperatorAction(tx, operator, { subject: "lost wallets", details: { since: since.toISOString() } }),
  );
  const result: Reentered = { wallets: 0, known: 0, problems: [] };
  await readOwnTopic({
    since,
    async handle({ headers, value }) {
      const {
        event_id: eventId,
        event_type: type = "",
        aggregate_id: walletId,
        org_id: orgId = "",
      } = headers;
      if (!isId("evt", eventId) || !isId("wal", walletId)) return;
      const event = { eventId, type, orgId, walletId, version: BigInt(headers.version ?? "0"), value };
      const outcome = type === "wallet_created" ? await reenter(deps, event) : await repeat(deps, event);
      if (outcome === "known") result.known += 1;
      else if (outcome === "done") result.wallets += type === "wallet_created" ? 1 : 0;
      else result.problems.push(`${walletId}: ${outcome}`);
    },
  });
  return result;
}

/** A wallet's event, as Kafka has it. */
interface LostEvent {
  eventId: Id<"evt">;
  type: string;
  orgId: string;
  walletId: string;
  version: bigint;
  value: Buffer;
}

/** Stores a wallet again if its address follows from the organisation's seed. */
async function reenter(deps: ReenterDeps, event: LostEvent): Promise<string> {
  const { wallet, metadata, createdAt, keyIndex } = WalletCreated.decode(event.value);
  const walletType = wallet && enumName(WalletType, wallet.walletType);
  if (!wallet || !createdAt || walletType === undefined) return "its event is incomplete";
  const { orgId, walletId, userId, walletAddress: address } = wallet;
  if (await findWallet(deps.db, orgId, walletId)) return "known";
  const seed = await findKnownSeed(deps, orgId);
  if (!seed) return "the seed of its organisation is lost: see SEED_ESCROW_FOLDER";
  const derived = await deps.keyring.withSeed(seed, (keys) => keys.address(keyIndex));
  if (derived !== address) return "its address is of another seed than its organisation's";
  const lost: LostWallet = {
    ...{ orgId, walletId, userId, walletType, address, keyIndex, metadata, createdAt },
    version: event.version,
  };
  const outcome = await change(deps.db, event, (tx) => insertLostWallet(tx, lost));
  return outcome === "known" ? `the user ${userId} has another wallet of this type now` : outcome;
}

/** Repeats a later change unless the row has it. */
function repeat({ db }: ReenterDeps, event: LostEvent): Promise<string> {
  const { type, value } = event;
  const metadata = type === "wallet_updated" ? WalletUpdated.decode(value).metadata : undefined;
  const status = STATUSES[type];
  return change(db, event, (tx) => moveLostWallet(tx, event, { metadata, status }));
}

const STATUSES: Record<string, "ACTIVE" | "DEACTIVATED"> = {
  wallet_deactivated: "DEACTIVATED",
  wallet_reopened: "ACTIVE",
};

/** Publishes the change in its transaction, under the event's old id: consumers that know it skip it. */
function change(
  db: Database,
  { eventId, type, orgId, walletId, version, value }: LostEvent,
  write: (tx: Tx) => Promise<number>,
): Promise<"done" | "known"> {
  return tx(db, async (tx) => {
    if ((await write(tx)) === 0) return "known";
    const topic = TOPICS[0]!.name;
    const place = { topic, type, aggregateId: walletId, version, orgId };
    await appendEvents(tx, [{ eventId, ...place, payload: value }]);
    return "done";
  });
}
