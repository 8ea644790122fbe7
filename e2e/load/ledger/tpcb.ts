import { spawnSync } from "node:child_process";
import { named, rawSql, sql, tx, type Database } from "@wonrail/kit/db";
import { closedLoop } from "../loop";
import { open, type World } from "./world";

const CLIENTS = 32;
const SCALE = 10;
const ACCOUNTS = 100_000 * SCALE;

export interface Tpcb {
  perSecond: number;
  /** The measuring program. */
  by: string;
}

/** One transaction per transfer, one caller per connection, as most ledgers do. */
export async function tpcbRate(world: World, seconds: number): Promise<Tpcb> {
  const pgbench = spawnSync("pgbench", ["--version"]);
  return pgbench.status === 0 ? byPgbench(world, seconds) : byLoop(world, seconds);
}

function byPgbench({ adminUrl }: World, seconds: number): Tpcb {
  const run = (...args: string[]): string => {
    const result = spawnSync("pgbench", [...args, adminUrl], { encoding: "utf8" });
    if (result.status !== 0) throw new Error(`pgbench failed: ${result.stderr}`);
    return result.stdout;
  };
  run("-i", "-q", "-s", `${SCALE}`);
  const output = run("-n", "-M", "prepared", "-c", `${CLIENTS}`, "-j", "2", "-T", `${seconds}`);
  const perSecond = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
  return { perSecond, by: `pgbench TPC-B, ${CLIENTS} clients, scale ${SCALE}` };
}

/** The same statements through the driver, where pgbench is not installed. */
async function byLoop({ adminUrl }: World, seconds: number): Promise<Tpcb> {
  const db = open(adminUrl, "public", CLIENTS);
  await db.run(
    rawSql(`
    create table if not exists tpcb_branches (bid int primary key, bbalance int not null default 0);
    create table if not exists tpcb_tellers (tid int primary key, tbalance int not null default 0);
    create table if not exists tpcb_accounts (aid int primary key, abalance int not null default 0);
    create table if not exists tpcb_history (tid int, bid int, aid int, delta int, mtime timestamp);
    insert into tpcb_branches select generate_series(1, ${SCALE}) on conflict do nothing;
    insert into tpcb_tellers select generate_series(1, ${10 * SCALE}) on conflict do nothing;
    insert into tpcb_accounts select generate_series(1, ${ACCOUNTS}) on conflict do nothing`),
  );
  const { perSecond } = await closedLoop({ callers: CLIENTS, seconds, work: () => transaction(db) });
  await db.close();
  return { perSecond, by: `pgbench's TPC-B statements through pg, ${CLIENTS} connections, scale ${SCALE}` };
}

async function transaction(db: Database): Promise<void> {
  const pick = (below: number) => 1 + Math.floor(Math.random() * below);
  const [account, teller, branch, delta] = [
    pick(ACCOUNTS),
    pick(10 * SCALE),
    pick(SCALE),
    pick(10_000) - 5_000,
  ];
  await tx(db, async (tx) => {
    await tx.run(
      named(
        "tpcb_1",
        sql`update tpcb_accounts set abalance = abalance + ${delta}::int where aid = ${account}::int`,
      ),
    );
    await tx.query(named("tpcb_2", sql`select abalance from tpcb_accounts where aid = ${account}::int`));
    await tx.run(
      named(
        "tpcb_3",
        sql`update tpcb_tellers set tbalance = tbalance + ${delta}::int where tid = ${teller}::int`,
      ),
    );
    await tx.run(
      named(
        "tpcb_4",
        sql`update tpcb_branches set bbalance = bbalance + ${delta}::int where bid = ${branch}::int`,
      ),
    );
    await tx.run(
      named(
        "tpcb_5",
        sql`
          insert into tpcb_history (tid, bid, aid, delta, mtime)
          values (${teller}::int, ${branch}::int, ${account}::int, ${delta}::int, current_timestamp)`,
      ),
    );
  });
}
