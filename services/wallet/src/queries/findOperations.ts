import { type Database } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { type Won, won } from "@wonrail/kit/contract/money";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry, type Hold, HoldStatus, type RequestState } from "@wonrail/proto/ledger/v1/ledger";
import { type LedgerClient } from "../commands/openAccount";
import { type LedgerOperation, type SigningIntent } from "../domain/signingPolicy";
import { listWalletsById } from "../store/wallets";

/**
 * Asks the ledger for the operations of these intents, by "organisation|request id". Unknown
 * operations are absent.
 */
export async function findOperations(
  { db, ledger }: { db: Database; ledger: LedgerClient },
  intents: SigningIntent[],
): Promise<Map<string, LedgerOperation>> {
  const operations = new Map<string, LedgerOperation>();
  for (const [orgId, of] of groupBy(intents, (intent) => intent.orgId)) {
    const requestIds = [...new Set(of.map((intent) => intent.ledgerRef))];
    const requests = await readRequests(ledger, orgId, requestIds);
    const accountIds = requests.flatMap((request) =>
      (postedBy(request)?.postings ?? []).map(({ accountId }) => accountId),
    );
    const wallets = await listWalletsById(db, orgId, [...new Set(accountIds)]);
    const addresses = new Map(
      wallets.map((wallet) => [wallet.walletId as string, wallet.address.toLowerCase()]),
    );
    for (const request of requests) {
      const entry = postedBy(request);
      const moved = request.hold ? ofHold(request.hold) : ofEntry(entry, addresses);
      const origin = entry?.origin ?? null;
      if (moved) operations.set(`${orgId}|${request.requestId}`, { ...moved, origin });
    }
  }
  return operations;
}

/** An answer may leave out ids that have no room in it. */
async function readRequests(ledger: LedgerClient, orgId: string, ids: string[]): Promise<RequestState[]> {
  const found: RequestState[] = [];
  for (let requestIds = ids; requestIds.length > 0;) {
    const { requests, unansweredIds } = await ledger.getEntries({ orgId, requestIds });
    found.push(...requests);
    requestIds = unansweredIds;
  }
  return found;
}

type Moved = Omit<LedgerOperation, "origin">;

function ofHold(hold: Hold): Moved | null {
  if (hold.status !== HoldStatus.OPEN) return null;
  const amount = won(BigInt(hold.amountWon));
  return {
    outflow: new Map([[hold.walletId, amount]]),
    payable: new Map([[hold.toAddress.toLowerCase(), amount]]),
    burnable: won(0n),
  };
}

/** The kinds of entry that settle on chain afterwards. A posted hold has moved on chain already. */
const TO_SETTLE = new Set([
  IntentKind.TRANSFER,
  IntentKind.PAYMENT,
  IntentKind.CANCEL_PAYMENT,
  IntentKind.REFUND_PAYMENT,
  IntentKind.CANCEL_CHARGE,
  IntentKind.REFUND,
]);

function ofEntry(entry: Entry | undefined, addresses: Map<string, string>): Moved | null {
  if (!entry || !TO_SETTLE.has(entry.kind)) return null;
  const outflow = new Map<string, Won>();
  const payable = new Map<string, Won>();
  let less = 0n;
  for (const [walletId, net] of netByWallet(entry)) {
    const address = addresses.get(walletId);
    less -= net;
    if (net < 0n) outflow.set(walletId, won(-net));
    else if (address !== undefined) payable.set(address, won(net));
  }
  return { outflow, payable, burnable: won(less > 0n ? less : 0n) };
}

/** A wallet that pays and is paid in one entry settles the difference. */
function netByWallet(entry: Entry): Map<string, bigint> {
  const nets = new Map<string, bigint>();
  for (const { accountId, amountWon } of entry.postings)
    if (accountId.startsWith("wal_")) nets.set(accountId, (nets.get(accountId) ?? 0n) + BigInt(amountWon));
  return nets;
}

function postedBy({ outcome }: RequestState): Entry | undefined {
  return outcome?.outcome?.$case === "posted" ? outcome.outcome.value : undefined;
}
