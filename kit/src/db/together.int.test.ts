import { eventually, openTestDatabase, startProxy } from "../testing";
import { named, sql, tx, type Tx } from ".";
import { fourAccounts, plusOne } from "./testing/accounts";

const test = fourAccounts();
const { balanceOf } = test;

describe("a transaction's messages", () => {
  it("sends one message per awaited query, and the last one with the COMMIT", async () => {
    const target = new URL(test.url);
    let messages = 0;
    const proxy = await startProxy({
      target: { host: target.hostname, port: Number(target.port) },
      onRequest: () => (messages += 1),
    });
    target.port = String(proxy.port);
    const db = openTestDatabase(target.toString(), "sample", { max: 1 });
    await db.ping();
    const messagesOf = async (work: (tx: Tx) => Promise<unknown>): Promise<number> => {
      messages = 0;
      await tx(db, work);
      return messages;
    };
    expect(await messagesOf(() => Promise.resolve())).toBe(0);
    expect(await messagesOf(async (tx) => [1, 2, 3].forEach((id) => tx.push(plusOne(id))))).toBe(1);
    expect(await messagesOf((tx) => Promise.all([tx.run(plusOne(1)), tx.run(plusOne(2))]))).toBe(2);
    const both = async (tx: Tx) => (tx.push(plusOne(1)), await tx.run(plusOne(2)), tx.push(plusOne(3)));
    expect(await messagesOf(both)).toBe(2);
    await db.close();
    await proxy.close();
    expect(await Promise.all([1, 2, 3, 4].map(balanceOf))).toEqual([103n, 103n, 102n, 100n]);
  });

  it("each query of one message sees the rows that earlier ones waited for", async () => {
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

  it("executes nothing behind a failed statement, and can repeat it on the same connection", async () => {
    const one = openTestDatabase(test.url, "sample", { max: 1 });
    const later = named("later", sql`update accounts set balance = 7 where id = ${1}`);
    for (const what of ["syntax error", "division by zero"]) {
      const broken = what === "syntax error" ? named("broken", sql`this is none`) : sql`select 1 / 0`;
      const failed = tx(one, async (tx) => {
        tx.push(plusOne(2));
        tx.push(broken);
        tx.push(later);
        await Promise.resolve();
      });
      await expect(failed).rejects.toThrow(what);
      expect(await Promise.all([1, 2].map(balanceOf))).toEqual([100n, 100n]);
    }
    await tx(one, async (tx) => tx.push(later));
    await one.run(later);
    await tx(one, async (tx) => tx.run(named("broken", sql`update accounts set balance = 8 where id = 2`)));
    expect(await Promise.all([1, 2].map(balanceOf))).toEqual([7n, 8n]);
    await one.close();
  });

  it("assigns answers correctly when a statement is empty", async () => {
    const [nothing, one] = await tx(test.db, (tx) =>
      Promise.all([tx.query(sql`-- nothing`), tx.one(sql`select 1 as one`)]),
    );
    expect([nothing, one]).toEqual([[], { one: 1 }]);
  });

  it("executes no waiting statement after the work failed", async () => {
    let asked: Promise<unknown>[] = [];
    const work = tx(test.db, async (tx) => {
      asked = [tx.run(sql`select pg_sleep(0.05)`)];
      await Promise.resolve();
      asked.push(tx.run(plusOne(1)));
      tx.push(plusOne(1));
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    const [first, second] = await Promise.allSettled(asked);
    expect(first!.status).toBe("fulfilled");
    expect(second).toMatchObject({ reason: { message: "the transaction is over" } });
    await Promise.all(Array.from({ length: 10 }, () => test.db.ping()));
    expect(await balanceOf(1)).toBe(100n);
  });
});
