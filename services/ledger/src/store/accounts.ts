import { named, sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { assert } from "@wonrail/kit/contract/errors";
import { derivedId, idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { won, type Won } from "@wonrail/kit/contract/money";
import { isOrgAccount, type AccountType, type OrgAccountType } from "../domain/accountTypes";
import { type Account } from "../domain/types";
import { uuidArray } from "./arrays";
import { accountTypes, freezes } from "./codes";
import { StaleStateError } from "./staleState";

interface FactsRow {
  org_id: string;
  id: string;
  number: bigint;
  type: number;
  user_id: string | null;
  opened_at: Date;
}

interface AccountRow extends FactsRow, MovingRow {}

/** The columns that movements change. */
interface MovingRow {
  number: bigint;
  closed_at: Date | null;
  balance_won: bigint;
  held_won: bigint;
  sequence: bigint;
  limit_day: number;
  limit_used_won: bigint;
  block_types: number;
  frozen_by_chain: number;
  frozen_by_operator: number;
}

/** The facts of an account that never change. */
export type AccountFacts = Pick<Account, "number" | "id" | "orgId" | "type" | "userId" | "openedAtMs">;

const FACTS = sql`org_id, id, number, type, user_id, opened_at`;
const MOVING = sql`number, closed_at, balance_won, held_won, sequence, limit_day, limit_used_won, block_types, frozen_by_chain, frozen_by_operator`;
const COLUMNS = sql`org_id, id, type, user_id, opened_at, ${MOVING}`;

export async function findFacts(
  db: Queryable,
  orgIds: string[],
  accountIds: string[],
): Promise<AccountFacts[]> {
  const rows = await db.query<FactsRow>(
    named(
      "accounts_find_facts",
      sql`
        select ${FACTS} from accounts
        where org_id = any(${uuidArray(orgIds)}::uuid[]) and id = any(${uuidArray(accountIds)}::uuid[])`,
    ),
  );
  return rows.map(toFacts);
}

/** Locks in number order, so that two batches never deadlock. */
export async function lockAccounts(tx: Tx, facts: Map<bigint, AccountFacts>): Promise<Account[]> {
  const rows = await tx.query<MovingRow & { id: string }>(
    named(
      "accounts_lock",
      sql`
        select id, ${MOVING} from accounts where number = any(${[...facts.keys()]}::bigint[])
        order by number for no key update`,
    ),
  );
  // A promoted standby without the last commits may have reused a cached account's number.
  const isAsKnown = rows.every((row) => row.id === idToUuid(facts.get(row.number)!.id));
  if (!isAsKnown || rows.length !== facts.size) throw new StaleStateError("an account is not the cached one");
  return rows.map((row) => toAccount(facts.get(row.number)!, row));
}

export interface User {
  readonly orgId: string;
  readonly userId: string;
}

export interface UserWallet extends User {
  id: string;
}

/** All wallets of the users of these wallets, and of these users. */
export async function findWalletsOfUsers(
  db: Queryable,
  wallets: { orgId: string; walletId: string }[],
  users: User[],
): Promise<UserWallet[]> {
  const rows = await db.query<{ org_id: string; user_id: string; id: string }>(
    named(
      "accounts_of_users",
      sql`
        with users as (
          select distinct a.org_id, a.user_id
          from unnest(${wallets.map(({ orgId }) => idToUuid(orgId))}::uuid[], ${wallets.map(({ walletId }) => idToUuid(walletId))}::uuid[])
            as w (org_id, id)
          join accounts a on a.org_id = w.org_id and a.id = w.id
          union
          select * from unnest(${users.map(({ orgId }) => idToUuid(orgId))}::uuid[], ${users.map(({ userId }) => userId)}::text[])
        )
        select a.org_id, a.user_id, a.id from users u join accounts a on a.org_id = u.org_id and a.user_id = u.user_id`,
    ),
  );
  return rows.map((row) => ({
    orgId: uuidToId("org", row.org_id),
    userId: row.user_id,
    id: uuidToId("wal", row.id),
  }));
}

/** The wallets of these users besides the known ones. */
export async function findOtherWallets(
  db: Queryable,
  users: User[],
  knownIds: Iterable<string>,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    named(
      "accounts_others_of_users",
      sql`
        select a.id
        from unnest(${uuidArray(users.map(({ orgId }) => orgId))}::uuid[],
          ${users.map(({ userId }) => userId)}::text[]) as u (org_id, user_id)
        join accounts a on a.org_id = u.org_id and a.user_id = u.user_id
        where a.id <> all(${uuidArray([...knownIds])}::uuid[])`,
    ),
  );
  return rows.map(({ id }) => uuidToId("wal", id));
}

export async function findAccounts(db: Queryable, orgId: string, accountIds: string[]): Promise<Account[]> {
  const rows = await db.query<AccountRow>(
    named(
      "accounts_find",
      sql`
        select ${COLUMNS} from accounts
        where org_id = ${idToUuid(orgId)} and id = any(${accountIds.map(idToUuid)}::uuid[])`,
    ),
  );
  return rows.map((row) => toAccount(toFacts(row), row));
}

/** An account of any organisation, by the UUID in its id. */
export async function findAccountById(db: Queryable, accountId: string): Promise<Account | undefined> {
  const row = await db.maybe<AccountRow>(
    named("accounts_find_by_id", sql`select ${COLUMNS} from accounts where id = ${idToUuid(accountId)}`),
  );
  return row && toAccount(toFacts(row), row);
}

export async function listAccounts(
  db: Queryable,
  orgId: string,
  afterAccountId: string | null,
  limit: number,
): Promise<Account[]> {
  const after = afterAccountId === null ? "00000000-0000-0000-0000-000000000000" : idToUuid(afterAccountId);
  const rows = await db.query<AccountRow>(
    named(
      "accounts_list",
      sql`
        select ${COLUMNS} from accounts
        where org_id = ${idToUuid(orgId)} and id > ${after} order by id limit ${limit}`,
    ),
  );
  return rows.map((row) => toAccount(toFacts(row), row));
}

/** Names for accounts that are about to be opened. */
export async function reserveNumbers(tx: Tx, count: number): Promise<bigint[]> {
  const rows = await tx.query<{ number: bigint }>(
    named(
      "accounts_reserve_numbers",
      sql`select nextval('accounts_number_seq') as number from generate_series(1, ${count}::integer)`,
    ),
  );
  return rows.map(({ number }) => number);
}

/** Inserts in id order, so that two batches that open the same accounts never deadlock. */
export function insertAccounts(tx: Tx, accounts: Account[]): void {
  tx.push(
    named(
      "accounts_insert",
      sql`
        insert into accounts (org_id, id, number, type, user_id, opened_at)
        select * from unnest(
          ${accounts.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${accounts.map(({ id }) => idToUuid(id))}::uuid[],
          ${accounts.map(({ number }) => number)}::bigint[],
          ${accounts.map(({ type }) => accountTypes.toCode(type))}::smallint[],
          ${accounts.map(({ userId }) => userId)}::text[],
          ${accounts.map(({ openedAtMs }) => new Date(openedAtMs))}::timestamptz[]
        ) as a (org_id, id, number, type, user_id, opened_at)
        order by id`,
    ),
  );
}

const ORG_ACCOUNTS: OrgAccountType[] = ["ORG_ISSUANCE", "ORG_INCENTIVE", "ORG_EXTERNAL"];
const orgAccountIds = new Map<string, string>();
const MAX_ORG_ACCOUNT_IDS = 100_000;

/**
 * Derived, so that every replica gets the same id without a question. Cached, because every charge
 * needs it.
 */
export function orgAccountId(orgId: string, type: OrgAccountType): string {
  const key = orgId + type;
  let id = orgAccountIds.get(key);
  if (id === undefined) {
    if (orgAccountIds.size >= MAX_ORG_ACCOUNT_IDS) orgAccountIds.clear();
    id = derivedId("acc", orgId, type);
    orgAccountIds.set(key, id);
  }
  return id;
}

export function listOrgAccountIds(orgId: string): string[] {
  return ORG_ACCOUNTS.map((type) => orgAccountId(orgId, type));
}

/** Creates an organisation's missing own accounts; concurrent replicas use the same order. */
export async function ensureOrgAccounts(db: Queryable, orgIds: string[]): Promise<void> {
  const wanted = orgIds.flatMap((orgId) => ORG_ACCOUNTS.map((type) => ({ orgId, type })));
  await db.run(sql`
    insert into accounts (org_id, id, type, opened_at)
    select *, now() from unnest(
      ${wanted.map(({ orgId }) => idToUuid(orgId))}::uuid[],
      ${wanted.map(({ orgId, type }) => idToUuid(orgAccountId(orgId, type)))}::uuid[],
      ${wanted.map(({ type }) => accountTypes.toCode(type))}::smallint[])
    order by 2
    on conflict do nothing`);
}

export interface TypeTotal {
  type: AccountType;
  accounts: bigint;
  balanceWon: Won;
  heldWon: Won;
}

export async function sumAccounts(db: Queryable, orgId: string): Promise<TypeTotal[]> {
  const rows = await db.query<{ type: number; accounts: bigint; balance_won: bigint; held_won: bigint }>(
    named(
      "accounts_sum",
      sql`
        select type, count(*) as accounts, sum(balance_won) as balance_won, sum(held_won) as held_won
        from accounts where org_id = ${idToUuid(orgId)} group by type order by type`,
    ),
  );
  return rows.map((row) => ({
    type: accountTypes.fromCode(row.type),
    accounts: row.accounts,
    balanceWon: won(row.balance_won),
    heldWon: won(row.held_won),
  }));
}

export interface ClosedWithBalance {
  type: AccountType;
  accounts: bigint;
  /** Up to ten of them. */
  first: { orgId: string; walletId: string }[];
}

/** Reads all accounts: an index on a column that every posting changes would slow every posting. */
export async function findClosedWithBalance(db: Queryable): Promise<ClosedWithBalance[]> {
  const rows = await db.query<{ type: number; accounts: bigint; org_ids: string[]; ids: string[] }>(
    named(
      "accounts_closed_with_balance",
      sql`
        select type, count(*) as accounts, (array_agg(org_id::text order by number))[1:10] as org_ids,
          (array_agg(id::text order by number))[1:10] as ids
        from accounts where closed_at is not null and balance_won > 0 group by type order by type`,
    ),
  );
  return rows.map((row) => ({
    type: accountTypes.fromCode(row.type),
    accounts: row.accounts,
    first: row.ids.map((id, index) => ({
      orgId: uuidToId("org", row.org_ids[index]!),
      walletId: uuidToId("wal", id),
    })),
  }));
}

function toFacts(row: FactsRow): AccountFacts {
  const type = accountTypes.fromCode(row.type);
  return {
    number: row.number,
    id: accountId(type, row.id),
    orgId: uuidToId("org", row.org_id),
    type,
    userId: row.user_id,
    openedAtMs: row.opened_at.getTime(),
  };
}

function toAccount({ number, id, orgId, type, userId, openedAtMs }: AccountFacts, row: MovingRow): Account {
  const account: Account = {
    number,
    id,
    orgId,
    type,
    userId,
    openedAtMs,
    closedAtMs: row.closed_at?.getTime() ?? null,
    balanceWon: won(row.balance_won),
    heldWon: won(row.held_won),
    sequence: row.sequence,
    limitDay: row.limit_day,
    limitUsedWon: won(row.limit_used_won),
    blockTypes: row.block_types,
    frozenByChain: freezes.fromCode(row.frozen_by_chain),
    frozenByOperator: freezes.fromCode(row.frozen_by_operator),
  };
  assert(isOrgAccount(type) || account.balanceWon >= account.heldWon, `${id} is below its floor`);
  return account;
}

export function accountId(type: AccountType, uuid: string): string {
  return uuidToId(isOrgAccount(type) ? "acc" : "wal", uuid);
}
