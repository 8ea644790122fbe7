import { openDatabase, named, sql } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import type { OpenPeer } from "./peer";

const CONNECTIONS = 64;

/** pgledger: SQL functions in a database that has them installed; the address is its DSN. */
export const pgledger: OpenPeer = async (address, accounts) => {
  const log = createLog({ service: "bench", level: "error" });
  const db = openDatabase({
    url: address,
    schema: "public",
    applicationName: "bench",
    max: CONNECTIONS,
    log,
  });
  const open = async (name: string): Promise<string> => {
    const { id } = await db.one<{ id: string }>(
      sql`select id from pgledger_create_account(${name}::text, 'KRW'::text)`,
    );
    return id;
  };
  const send = (from: string, to: string, amount: number) =>
    db.query(
      named(
        "pgledger_transfer",
        sql`select id from pgledger_create_transfer(${from}::text, ${to}::text, ${amount}::numeric)`,
      ),
    );
  const world = await open("bench.world");
  const ids: string[] = [];
  for (let number = 0; number < accounts; number += 1) {
    const id = await open(`bench.${number}`);
    ids.push(id);
    await send(world, id, 1_000_000_000);
  }
  return {
    async transfer(from, to) {
      await send(ids[from]!, ids[to]!, 10);
    },
    close: () => db.close(),
  };
};
