import { eventually, openTestDatabase, startProxy } from "../testing";
import { named, sql, tx } from ".";
import { fourAccounts, plusOne } from "./testing/accounts";

const test = fourAccounts();
const { balanceOf } = test;

const ONE_WAY_MS = 100;

describe("a transaction", () => {
  it("waits for two round trips when its work only pushes: BEGIN, then all statements with COMMIT", async () => {
    const target = new URL(test.url);
    const mode = { kind: "delay", delayMs: ONE_WAY_MS } as const;
    const proxy = await startProxy({ target: { host: target.hostname, port: Number(target.port) }, mode });
    target.port = String(proxy.port);
    const db = openTestDatabase(target.toString(), "sample", { max: 1 });
    await db.ping();
    const startMs = performance.now();
    await tx(db, async (tx) => {
      for (const id of [1, 2, 3, 4, 1, 2, 3, 4]) tx.push(plusOne(id));
      await Promise.resolve();
    });
    expect(performance.now() - startMs).toBeLessThan(2 * ONE_WAY_MS * 5);
    await db.close();
    await proxy.close();
    expect(await Promise.all([1, 2, 3, 4].map(balanceOf))).toEqual([102n, 102n, 102n, 102n]);
  });

  it("sees in each pipelined statement what the statement before it waited for", async () => {
    let read: Promise<unknown> | undefined;
    await tx(test.db, async (holder) => {
      await holder.run(sql`update accounts set balance = 105 where id = 1`);
      read = tx(test.db, async (tx) => {
        const [, row] = await Promise.all([
          tx.one(sql`select id from accounts where id = 1 for update`),
          tx.one(sql`select balance from accounts where id = 1`),
        ]);
        return row;
      });
      await eventually(async () => {
        const waiting = sql`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        expect(await test.db.one(waiting)).toEqual({ count: 1n });
      });
    });
    expect(await read).toEqual({ balance: 105n });
  });

  it.each([
    ["a syntax error", named("broken", sql`this is none`), "syntax error"],
    ["a failed statement", sql`select 1 / 0`, "division by zero"],
    ["a statement that the driver cannot send", named("known", sql`select 2`), "must be unique"],
  ])("does nothing behind %s, and can use the connection again", async (_, broken, message) => {
    const one = openTestDatabase(test.url, "sample", { max: 1 });
    await one.query(named("known", sql`select 1`));
    const later = named("later", sql`update accounts set balance = 7 where id = ${1}`);
    const failed = tx(one, async (tx) => {
      tx.push(plusOne(2));
      tx.push(broken);
      tx.push(later);
      await Promise.resolve();
    });
    await expect(failed).rejects.toThrow(message);
    expect(await Promise.all([1, 2].map(balanceOf))).toEqual([100n, 100n]);
    await tx(one, async (tx) => tx.push(later));
    await one.run(later);
    await tx(one, async (tx) => tx.run(named("broken", sql`update accounts set balance = 8 where id = 2`)));
    expect(await Promise.all([1, 2].map(balanceOf))).toEqual([7n, 8n]);
    await one.close();
  });

  it("runs no statement when BEGIN failed", async () => {
    const failed = tx(test.db, async (tx) => tx.push(plusOne(1)), { isolation: "none" as "serializable" });
    await expect(failed).rejects.toThrow("syntax error");
    await test.db.ping();
    expect(await balanceOf(1)).toBe(100n);
  });

  it("rolls back the statements that are in flight when the work fails", async () => {
    const work = tx(test.db, async (tx) => {
      await tx.query(sql`select 1`);
      void tx.run(sql`select pg_sleep(0.05)`);
      void tx.run(plusOne(1)).catch(() => undefined);
      tx.push(plusOne(1));
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    await Promise.all(Array.from({ length: 10 }, () => test.db.ping()));
    expect(await balanceOf(1)).toBe(100n);
  });

  it("rolls back when the work fails before BEGIN is answered", async () => {
    const one = openTestDatabase(test.url, "sample", { max: 1 });
    const work = tx(one, (tx) => {
      tx.push(plusOne(1));
      return Promise.reject(new Error("no"));
    });
    await expect(work).rejects.toThrow("no");
    await one.ping();
    expect(await balanceOf(1)).toBe(100n);
    await one.close();
  });
});
