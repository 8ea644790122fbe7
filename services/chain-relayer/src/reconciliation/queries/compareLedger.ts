import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import {
  type Account,
  type GetTotalsResponse,
  type LedgerServiceService,
} from "@wonrail/proto/ledger/v1/ledger";
import { isWallet } from "../../settlement";
import {
  countFunded,
  type ExpectedBalance,
  expectedSupply,
  listExpectedBalances,
  listFunded,
} from "../store/settledBalances";
import { createFindings, type Findings, addComparison } from "./findings";

export type LedgerReader = Pick<
  PromiseClient<LedgerServiceService>,
  "listAccounts" | "getBalances" | "getTotals"
>;

export interface CompareLedgerDeps {
  db: Database;
  ledger: LedgerReader;
  /** Throws its reason between two parts. */
  signal: AbortSignal;
}

export interface Comparison extends Findings {
  judged: number;
  /** Wallets with lines that are not pulled yet: they cannot be judged now. */
  moving: number;
}

/** Wallets per statement; each statement reads all open operations. */
const AT_ONCE = 10_000;
const PAGE = 1_000;

/** Compares the ledger's wallets and own accounts with settled and open operations. */
export async function compareLedger(
  { db, ledger, signal }: CompareLedgerDeps,
  orgId: string,
  blockNumber: bigint,
  openDrifts: ReadonlySet<string>,
): Promise<Comparison> {
  const comparison: Comparison = { ...createFindings(openDrifts), judged: 0, moving: 0 };
  const before = await ledger.getTotals({ orgId });
  let funded = 0;
  for await (const accounts of accountsOf(ledger, orgId)) {
    signal.throwIfAborted();
    const wallets = accounts.filter(({ accountId }) => isWallet(accountId));
    // Read after the ledger, so that most of the ledger's lines are pulled.
    const expected = await listExpectedBalances(
      db,
      orgId,
      wallets.map(({ accountId }) => accountId),
    );
    for (const { isFunded } of expected.values()) if (isFunded) funded += 1;
    for (const account of wallets)
      judgeWallet(comparison, orgId, blockNumber, account, expected.get(account.accountId)!);
  }
  // A wallet opened meanwhile appears in the ledger's next answer.
  if ((await countFunded(db, orgId)) > funded)
    await judgeUnlisted(comparison, { db, ledger }, orgId, blockNumber);
  const supply = comparison.moving === 0 ? await expectedSupply(db, orgId) : null;
  const totals = await ledger.getTotals({ orgId });
  const still = mintedWon(totals) === mintedWon(before);
  judgeTotals(comparison, orgId, blockNumber, totals, still ? supply : null);
  return comparison;
}

/** Pages of accounts in id order. */
async function* accountsOf(ledger: LedgerReader, orgId: string): AsyncGenerator<Account[]> {
  let found: Account[] = [];
  for (let afterAccountId: string | undefined, more = true; more;) {
    const { accounts } = await ledger.listAccounts({ orgId, afterAccountId, limit: PAGE });
    found.push(...accounts);
    afterAccountId = accounts.at(-1)?.accountId;
    more = accounts.length === PAGE;
    if (more && found.length < AT_ONCE) continue;
    yield found;
    found = [];
  }
}

/** Judges a wallet once its newest line was pulled. */
function judgeWallet(
  comparison: Comparison,
  orgId: string,
  blockNumber: bigint,
  { accountId, balanceWon, sequence }: Account,
  { units, sequence: pulled }: ExpectedBalance,
): void {
  if (pulled !== sequence) {
    comparison.moving += 1;
    return;
  }
  comparison.judged += 1;
  const actual = BigInt(balanceWon) * TOKEN_UNITS_PER_WON;
  const place = { orgId, walletId: accountId, kind: "LEDGER" as const, subject: "" };
  addComparison(comparison, { ...place, expected: units, actual, blockNumber });
}

/**
 * Funded wallets without a ledger account: a forged event was believed, or the ledger lost the
 * account.
 */
async function judgeUnlisted(
  comparison: Comparison,
  { db, ledger }: Pick<CompareLedgerDeps, "db" | "ledger">,
  orgId: string,
  blockNumber: bigint,
): Promise<void> {
  for (let page = await listFunded(db, orgId, "", PAGE); page.length > 0;) {
    const { accounts } = await ledger.getBalances({ orgId, accountIds: page });
    const listed = new Set(accounts.map(({ accountId }) => accountId));
    const unlisted = page.filter((walletId) => !listed.has(walletId));
    for (const { walletId, units } of (await listExpectedBalances(db, orgId, unlisted)).values())
      addComparison(comparison, {
        orgId,
        walletId,
        kind: "LEDGER",
        subject: "",
        expected: units,
        actual: 0n,
        blockNumber,
      });
    page = await listFunded(db, orgId, page.at(-1)!, PAGE);
  }
}

/**
 * Checks the ledger's own sum, and, when nothing moves, that the money supply equals the
 * organisation's minted amount.
 */
function judgeTotals(
  findings: Findings,
  orgId: string,
  blockNumber: bigint,
  totals: GetTotalsResponse,
  supply: bigint | null,
): void {
  const of = { orgId, walletId: "", kind: "ORGANISATION" as const, blockNumber };
  const owed = -sumOf(totals, [
    AccountType.ORG_ISSUANCE,
    AccountType.ORG_INCENTIVE,
    AccountType.ORG_EXTERNAL,
  ]);
  const expected = owed * TOKEN_UNITS_PER_WON;
  addComparison(findings, {
    ...of,
    subject: "sum",
    expected,
    actual: BigInt(totals.walletsWon) * TOKEN_UNITS_PER_WON,
  });
  const minted = mintedWon(totals) * TOKEN_UNITS_PER_WON;
  if (supply !== null)
    addComparison(findings, { ...of, subject: "supply", expected: supply, actual: minted });
}

/** Minted for charges and accruals, less burned. */
function mintedWon(totals: GetTotalsResponse): bigint {
  return -sumOf(totals, [AccountType.ORG_ISSUANCE, AccountType.ORG_INCENTIVE]);
}

function sumOf({ totals }: GetTotalsResponse, types: AccountType[]): bigint {
  return totals.reduce(
    (sum, { type, balanceWon }) => (types.includes(type) ? sum + BigInt(balanceWon) : sum),
    0n,
  );
}
