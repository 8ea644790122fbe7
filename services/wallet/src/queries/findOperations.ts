import { type Database } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { type Won, won } from "@wonrail/kit/money";
import { type Entry, HoldStatus } from "@wonrail/proto/ledger/v1/ledger";
import { type LedgerClient } from "../commands/openAccount";
import { type LedgerOperation, type SigningIntent } from "../domain/signingPolicy";
import { listWalletsById } from "../store/wallets";

/** What the ledger says of each operation that somebody wants signed, by "organisation|request id". Unknown ones are absent. */
export async function findOperations(
  { db, ledger }: { db: Database; ledger: LedgerClient },
  intents: SigningIntent[],
): Promise<Map<string, LedgerOperation>> {
  const operations = new Map<string, LedgerOperation>();
  for (const [orgId, of] of groupBy(intents, (intent) => intent.orgId)) {
    const requestIds = [...new Set(of.map((intent) => intent.ledgerRef))];
    const { entries } = await ledger.getEntries({ orgId, requestIds });
    const accountIds = entries.flatMap((entry) => postingsOf(entry).map((posting) => posting.accountId));
    const wallets = await listWalletsById(db, orgId, [...new Set(accountIds)]);
    const addresses = new Map(
      wallets.map((wallet) => [wallet.walletId as string, wallet.address.toLowerCase()]),
    );
    for (const entry of entries) {
      const operation = entry.hold ? ofHold(entry.hold) : ofEntry(entry, addresses);
      if (operation) operations.set(`${orgId}|${entry.requestId}`, operation);
    }
  }
  return operations;
}

function ofHold(hold: NonNullable<Entry["hold"]>): LedgerOperation | null {
  if (hold.status !== HoldStatus.OPEN) return null;
  const amount = won(BigInt(hold.amountWon));
  return {
    outflow: new Map([[hold.walletId, amount]]),
    payable: new Map([[hold.toAddress.toLowerCase(), amount]]),
    burnable: won(0n),
  };
}

function ofEntry(entry: Entry, addresses: Map<string, string>): LedgerOperation | null {
  if (entry.outcome?.outcome?.$case !== "posted") return null;
  const outflow = new Map<string, Won>();
  const payable = new Map<string, Won>();
  let burnable = 0n;
  for (const { accountId, amountWon } of postingsOf(entry)) {
    const amount = BigInt(amountWon);
    const address = addresses.get(accountId);
    if (amount < 0n) add(outflow, accountId, -amount);
    else if (address !== undefined) add(payable, address, amount);
    else burnable += amount;
  }
  return { outflow, payable, burnable: won(burnable) };
}

function postingsOf(entry: Entry) {
  const outcome = entry.outcome?.outcome;
  return outcome?.$case === "posted" ? outcome.value.postings : [];
}

function add(sums: Map<string, Won>, key: string, amount: bigint): void {
  sums.set(key, won((sums.get(key) ?? 0n) + amount));
}
