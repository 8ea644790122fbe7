import { readHistory } from "../history";
import { type Organisation, type WorldAccess } from "./access";
import { readsNeeded } from "./acknowledged";
import { openReader, type PublicReads } from "./api";
import { readChain } from "./chain/readChain";
import { readSettlements } from "./chain/readSettlements";
import { withDatabase } from "./database";
import { readWebhooks } from "./events/readWebhooks";
import { type Observed, writeFacts } from "./facts";
import { readJournal } from "./journal/readJournal";
import { collectHistory, mergeByKey, type Operation } from "./operations";
import { readNamedIds } from "./tenants";
import { readUnfinished } from "./unfinished";
import { type Wallet } from "./wallets/walletIndex";

/** Reads the facts of a world whose work is done, and writes them beside the history. */
export async function collectFacts(
  historyFile: string,
  access: WorldAccess,
  observed: Observed,
): Promise<void> {
  const operations = mergeByKey((await collectHistory(readHistory(historyFile))).operations);
  const { organisations } = access;
  const settlements = (await inTurn(organisations, (one) => readSettlements(access, one))).flat();
  const proofBlocks = settlements.flatMap(({ proof }) => (proof ? [proof.blockNumber] : []));
  writeFacts(historyFile, {
    organisations: organisations.map(({ id, code }) => ({ id, code })),
    journals: await inTurn(organisations, (one) => readJournal(access, one)),
    wallets: await readWallets(access),
    settlements,
    chain: await readChain(access, proofBlocks),
    reads: Object.fromEntries(
      await inTurn(
        organisations,
        async (one) => [one.code, await readPublic(access, one, operations)] as const,
      ),
    ),
    webhooks: await readWebhooks(access),
    unfinished: await readUnfinished(access),
    namedIds: await readNamedIds(access),
    observed,
  });
}

const READS_AT_ONCE = 8;

async function readPublic(
  access: WorldAccess,
  organisation: Organisation,
  operations: Operation[],
): Promise<PublicReads> {
  const reader = openReader(access, organisation);
  const own = operations.filter((operation) => operation.organisation === organisation.code);
  const { lists, objects } = readsNeeded(own);
  const reads: PublicReads = { lists: {}, objects: {}, events: await reader.events() };
  for (const path of lists) reads.lists[path] = await reader.list(path);
  const left = objects.values();
  const readSome = async (): Promise<void> => {
    for (const path of left) reads.objects[path] = await reader.get(path);
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readSome));
  return reads;
}

async function readWallets(access: WorldAccess): Promise<Wallet[]> {
  const codes = new Map(access.organisations.map(({ id, code }) => [id, code]));
  const rows = await withDatabase(access, "wallet", (query) =>
    query<{ orgId: string; userId: string } & Omit<Wallet, "organisation" | "user">>(
      `select org_id as "orgId", wallet_id as "walletId", user_id as "userId", wallet_type as type, address
       from wallets where org_id = any($1)`,
      [[...codes.keys()]],
    ),
  );
  return rows.map(({ orgId, userId, ...wallet }) => {
    const organisation = codes.get(orgId)!;
    return { ...wallet, organisation, user: `${organisation} ${userId}` };
  });
}

/** Awaits one item after another, because each answer can be large. */
async function inTurn<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
