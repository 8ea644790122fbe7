import { withDatabase, type Rows } from "../database";
import { type Organisation, type WorldAccess } from "../access";

const KINDS = [
  "openAccount",
  "closeAccount",
  "charge",
  "cancelCharge",
  "refund",
  "transfer",
  "payment",
  "cancelPayment",
  "freezeAccount",
  "placeHold",
  "postHold",
  "voidHold",
  "creditExternal",
  "reopenAccount",
  "refundPayment",
] as const;
export type EntryKind = (typeof KINDS)[number];

const ACCOUNT_TYPES = ["NORMAL", "INCENTIVE", "GOVERNMENT", "issuance", "incentive", "external"] as const;
export type AccountType = (typeof ACCOUNT_TYPES)[number];

const LINE_TYPES = [
  "TRANSFER",
  "CHARGE",
  "CHARGE_CANCEL",
  "PAYMENT",
  "PAYMENT_CANCEL",
  "REFUND",
  "INCENTIVE",
  "INCENTIVE_USE",
  "INCENTIVE_CANCEL",
  "INCENTIVE_USE_CANCEL",
] as const;
export type LineType = (typeof LINE_TYPES)[number];

/** The accounts, entries and keys of an organisation in the ledger. */
export interface Journal {
  /** The organisation's code. */
  organisation: string;
  accounts: Account[];
  /** In the ledger's order. */
  entries: Entry[];
  /** Entries that postings name and that do not exist. */
  missingEntries: string[];
  keys: StoredKey[];
  rules: Rules;
}

export interface Account {
  /** A wallet's id, or the name of one of the organisation's three accounts. */
  id: string;
  type: AccountType;
  userId: string | null;
  balance: number;
  held: number;
  lastSequence: number;
}

export interface Entry {
  id: string;
  kind: EntryKind;
  sequence: number;
  postedAtMs: number;
  /** The digits of the entry that this one cancels, or whose hold it ends. */
  originalDigits: string | null;
  lines: Line[];
  /** Wallets without a line: opened, closed, frozen or with a new hold. */
  touched: string[];
  hold: { walletId: string; toAddress: string; amount: number } | null;
}

export interface Line {
  account: string;
  sequence: number;
  amount: number;
  balanceAfter: number;
  type: LineType;
}

/** A stored idempotency key, with the refusal's code when the ledger refused the request. */
export interface StoredKey {
  scope: string;
  key: string;
  /** Null: the ledger has no entry of the key's request. */
  requestId: string | null;
  code: string | null;
}

export interface Rules {
  incentiveRateBps: number;
  dailyTransferLimit: number;
  dailyChargeLimit: number;
}

/** The 32 hex digits of an id or UUID. */
export function digitsOf(id: string): string {
  return id.slice(id.indexOf("_") + 1).replaceAll("-", "");
}

export async function readJournal(access: WorldAccess, { id, code }: Organisation): Promise<Journal> {
  const uuid = digitsOf(id);
  const rules = await withDatabase(access, "auth", (rows) => readRules(rows, uuid));
  return withDatabase(access, "ledger", async (rows) => ({
    organisation: code,
    accounts: await readAccounts(rows, uuid),
    ...(await readEntries(rows, uuid)),
    keys: await readKeys(rows, uuid),
    rules,
  }));
}

async function readRules(rows: Rows, uuid: string): Promise<Rules> {
  const [rules] = await rows<Rules>(
    `select incentive_rate_bps as "incentiveRateBps",
            daily_transfer_limit_won::float8 as "dailyTransferLimit",
            daily_charge_limit_won::float8 as "dailyChargeLimit"
     from organisations where org_id = $1`,
    [uuid],
  );
  if (!rules) throw new Error(`organisation ${uuid} does not exist`);
  return rules;
}

async function readAccounts(rows: Rows, uuid: string): Promise<Account[]> {
  const accounts = await rows<Omit<Account, "id" | "type"> & { id: string; type: number }>(
    `select id, type, user_id as "userId", balance_won::float8 as balance, held_won::float8 as held,
            sequence::float8 as "lastSequence"
     from accounts where org_id = $1`,
    [uuid],
  );
  return accounts.map((account) => ({ ...account, ...nameOf(account) }));
}

function nameOf({ id, type }: { id: string; type: number }): { id: string; type: AccountType } {
  const name = ACCOUNT_TYPES[type - 1]!;
  return { id: type <= 3 ? `wal_${digitsOf(id)}` : name, type: name };
}

async function readEntries(rows: Rows, uuid: string): Promise<Pick<Journal, "entries" | "missingEntries">> {
  const entries = await rows<EntryRow>(
    `select id, request_prefix as prefix, kind, org_sequence::float8 as sequence, posted_at as "postedAt",
            original_id as "originalId", detail
     from entries where org_id = $1 and org_sequence is not null order by org_sequence`,
    [uuid],
  );
  const lines = await rows<LineRow>(
    `select p.entry_id as "entryId", a.id as "accountId", a.type as "accountType", p.type,
            p.sequence::float8 as sequence, p.amount_won::float8 as amount,
            p.balance_after_won::float8 as "balanceAfter"
     from postings p join accounts a on a.number = p.account_number
     where p.org_id = $1 order by p.account_number, p.sequence`,
    [uuid],
  );
  const byEntry = new Map<string, Line[]>(entries.map(({ id }) => [id, []]));
  for (const line of lines) {
    const all = byEntry.get(line.entryId) ?? [];
    all.push(lineOf(line));
    byEntry.set(line.entryId, all);
  }
  const known = new Set(entries.map(({ id }) => id));
  return {
    entries: entries.map((entry) => entryOf(entry, byEntry.get(entry.id)!)),
    missingEntries: [...byEntry.keys()].filter((id) => !known.has(id)),
  };
}

interface EntryRow {
  id: string;
  prefix: string;
  kind: number;
  sequence: number;
  postedAt: Date;
  originalId: string | null;
  detail: {
    balances?: [walletId: string, ...unknown[]][];
    hold?: [walletId: string, toAddress: string, amount: string, ...unknown[]];
  } | null;
}

interface LineRow {
  entryId: string;
  accountId: string;
  accountType: number;
  type: number;
  sequence: number;
  amount: number;
  balanceAfter: number;
}

function lineOf({ accountId, accountType, type, sequence, amount, balanceAfter }: LineRow): Line {
  const account = nameOf({ id: accountId, type: accountType }).id;
  return { account, sequence, amount, balanceAfter, type: LINE_TYPES[type - 1]! };
}

function entryOf(row: EntryRow, lines: Line[]): Entry {
  const { id, prefix, kind, sequence, postedAt, originalId, detail } = row;
  const [walletId, toAddress, amount] = detail?.hold ?? [];
  return {
    id: `${prefix}_${digitsOf(id)}`,
    kind: KINDS[kind - 1]!,
    sequence,
    postedAtMs: postedAt.getTime(),
    originalDigits: originalId && digitsOf(originalId),
    lines,
    touched: (detail?.balances ?? []).map(([account]) => `wal_${digitsOf(account)}`),
    hold: walletId
      ? { walletId: `wal_${digitsOf(walletId)}`, toAddress: toAddress!, amount: Number(amount) }
      : null,
  };
}

async function readKeys(rows: Rows, uuid: string): Promise<StoredKey[]> {
  return rows<StoredKey>(
    `select k.scope, k.key, e.request_prefix || '_' || replace(e.id::text, '-', '') as "requestId", e.code
     from request_keys k left join entries e on e.org_id = k.org_id and e.id = k.request_id
     where k.org_id = $1`,
    [uuid],
  );
}
