import { runInContext } from "../context";
import { DomainError } from "../contract/errors";
import { eventually, openTestDatabase, startProxy, testLog } from "../testing";
import { isConnectionLoss, isTransient, mayBeExecuted, asRolledBack } from "./errors";
import {
  CommitUnknownError,
  afterCommit,
  named,
  openDatabase,
  rawSql,
  sql,
  tx,
  type Database,
  type Tx,
} from ".";
import { fourAccounts, plusOne } from "./testing/accounts";

const test = fourAccounts();
const { balanceOf } = test;

const add = (tx: Tx, id: number, amount: bigint) =>
  tx.run(sql`update accounts set balance = balance + ${amount} where id = ${id}`);

/** Lets several parties continue when all have arrived; later ones pass. */
function meeting(parties: number): () => Promise<void> {
  let open: () => void;
  const all = new Promise<void>((resolve) => (open = resolve));
  let came = 0;
  return () => {
    came += 1;
    if (came === parties) open();
    return all;
  };
}

describe("tx", () => {
  it("commits the work and returns its result", async () => {
    expect(await tx(test.db, async (tx) => (await add(tx, 1, 5n), "done"))).toBe("done");
    expect(await balanceOf(1)).toBe(105n);
  });

  it("rolls back when the work throws, and rethrows the same error", async () => {
    const refusal = new DomainError("TRF_001");
    const work = tx(test.db, async (tx) => {
      await add(tx, 1, 5n);
      throw refusal;
    });
    await expect(work).rejects.toBe(refusal);
    expect(await balanceOf(1)).toBe(100n);
  });

  it.each([
    ["has no disk left", "53100"],
    ["has no files left", "53000"],
    ["cannot read or write", "58030"],
  ])("changes nothing while the database %s, and reports a retryable error", async (_, errcode) => {
    const fail = rawSql(`do $$ begin raise exception using errcode = '${errcode}'; end $$`);
    const error = await tx(test.db, async (tx) => {
      await add(tx, 1, 5n);
      await tx.run(fail);
    }).catch((error: unknown) => error);
    expect(isTransient(error)).toBe(true);
    expect(asRolledBack(error)).toMatchObject({ code: "SYS_002" });
    expect(await balanceOf(1)).toBe(100n);
  });

  it("executes pushed statements in order and completes them before the commit", async () => {
    await tx(test.db, async (tx) => {
      for (let id = 1; id <= 4; id += 1)
        tx.push(sql`update accounts set balance = balance * 2 where id = ${id}`);
      tx.push(sql`update accounts set balance = balance + 1`);
    });
    expect(await Promise.all([1, 2, 3, 4].map(balanceOf))).toEqual([201n, 201n, 201n, 201n]);
  });

  it("fails with the error of a pushed statement, whatever followed it", async () => {
    const broken = sql`update accounts set balance = 1 / (id - 1)`;
    const silent = tx(test.db, async (tx) => {
      await add(tx, 1, 5n);
      tx.push(broken);
      await Promise.resolve();
    });
    await expect(silent).rejects.toMatchObject({ code: "22012" });
    const asking = tx(test.db, async (tx) => {
      tx.push(broken);
      await add(tx, 1, 5n);
    });
    await expect(asking).rejects.toMatchObject({ code: "22012" });
    expect(await balanceOf(1)).toBe(100n);
  });

  it("runs the work again when a pushed statement hits a serialisation failure", async () => {
    let runs = 0;
    await tx(test.db, async (tx) => {
      await add(tx, 1, 5n);
      runs += 1;
      if (runs === 1) tx.push(sql`do $$ begin raise exception 'met' using errcode = '40001'; end $$`);
    });
    expect(runs).toBe(2);
    expect(await balanceOf(1)).toBe(105n);
  });

  it("runs all queries in one transaction", async () => {
    const question = sql`select now() as at, pg_current_xact_id()::text as id`;
    const [first, second, third] = await tx(test.db, async (tx) => [
      ...(await Promise.all([tx.one(question), tx.one(question)])),
      await tx.one(question),
    ]);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it("is retryable when the driver gave up the connection before sending", () => {
    const error = new Error("Client has encountered a connection error and is not queryable");
    expect([isConnectionLoss(error), mayBeExecuted(error)]).toEqual([true, false]);
    expect(mayBeExecuted(new Error("Connection terminated unexpectedly"))).toBe(true);
  });

  it("fails with an error that the COMMIT detects", async () => {
    const owner = openTestDatabase(test.ownerUrl, "sample");
    await owner.run(sql`
      create table pairs (id integer primary key, other integer references pairs deferrable initially deferred)`);
    await owner.close();
    const alone = tx(test.db, (tx) => tx.run(sql`insert into pairs values (1, 2)`));
    await expect(alone).rejects.toMatchObject({ code: "23503" });
    expect(await test.db.query(sql`select id from pairs`)).toEqual([]);
  });

  it("does not commit when the work swallowed the error of a statement", async () => {
    const work = tx(test.db, async (tx) => {
      await add(tx, 1, 5n);
      await tx.query(sql`select 1 / 0`).catch(() => undefined);
    });
    await expect(work).rejects.toThrow("swallowed the error");
    expect(await balanceOf(1)).toBe(100n);
  });

  it("completes two transactions that deadlock", async () => {
    const meet = meeting(2);
    const move = (from: number, to: number) =>
      tx(test.db, async (tx) => {
        await add(tx, from, -1n);
        await meet();
        await add(tx, to, 1n);
      });
    await Promise.all([move(1, 2), move(2, 1)]);
    expect([await balanceOf(1), await balanceOf(2)]).toEqual([100n, 100n]);
  });

  it("completes two transactions that cannot be serialized", async () => {
    const meet = meeting(2);
    let runs = 0;
    const copy = (from: number, to: number) =>
      tx(
        test.db,
        async (tx) => {
          runs += 1;
          const { balance } = await tx.one<{ balance: bigint }>(
            sql`select balance from accounts where id = ${from}`,
          );
          await meet();
          await tx.run(sql`update accounts set balance = ${balance + 1n} where id = ${to}`);
        },
        { isolation: "serializable" },
      );
    await Promise.all([copy(3, 4), copy(4, 3)]);
    expect(runs).toBe(3);
    expect([await balanceOf(3), await balanceOf(4)].sort()).toEqual([101n, 102n]);
  });

  it("limits its wait for a lock, retries, and then refuses with SYS_002", async () => {
    const hasty = openDatabase({
      url: test.url,
      schema: "sample",
      applicationName: "hasty",
      lockTimeoutMs: 20,
      log: testLog(),
    });
    let runs = 0;
    await tx(test.db, async (holder) => {
      await add(holder, 1, 1n);
      const work = tx(hasty, (tx) => ((runs += 1), add(tx, 1, 1n)), { attempts: 3 });
      await expect(work).rejects.toMatchObject({ code: "SYS_002", cause: { code: "55P03" } });
    });
    expect(runs).toBe(3);
    await hasty.close();
  });

  it("ends on abort while it waits, and runs the work neither again nor afterwards", async () => {
    const stop = new AbortController();
    const one = openTestDatabase(test.url, "sample", { max: 1 });
    let runs = 0;
    const wait = () =>
      tx(
        one,
        async (tx) => {
          runs += 1;
          const asked = tx.query(sql`select pg_sleep(3600)`);
          setImmediate(() => stop.abort());
          await asked;
        },
        { signal: stop.signal },
      );
    await expect(wait()).rejects.toMatchObject({ code: "SYS_002" });
    await expect(wait()).rejects.toBe(stop.signal.reason);
    expect(runs).toBe(1);
    // The pool has closed one connection and got the other back.
    await one.ping();
    await one.close();
  });

  it("does not run again after the caller's deadline", async () => {
    let runs = 0;
    const context = { requestId: "req_1", traceparent: "", deadlineMs: Date.now() };
    const work = runInContext(context, () =>
      tx(test.db, async (tx) => {
        runs += 1;
        await tx.query(sql`do $$ begin raise sqlstate '40001'; end $$`);
      }),
    );
    await expect(work).rejects.toMatchObject({ code: "SYS_002" });
    expect(runs).toBe(1);
  });

  it("refuses writes in a read-only transaction", async () => {
    const work = tx(test.db, (tx) => add(tx, 1, 1n), { readOnly: true, isolation: "repeatable read" });
    await expect(work).rejects.toThrow("a read-only transaction tried to write");
  });

  it("continues when a migration changed the table under a prepared statement", async () => {
    const owner = openTestDatabase(test.ownerUrl, "sample");
    const one = openTestDatabase(test.url, "sample", { max: 1 });
    const first = () =>
      tx(one, (tx) => tx.query(named("first_account", sql`select * from accounts where id = 1`)));
    expect(await first()).toEqual([{ id: 1, balance: 100n }]);
    await owner.run(sql`alter table accounts add column note text`);
    expect(await first()).toEqual([{ id: 1, balance: 100n, note: null }]);
    await owner.run(sql`alter table accounts drop column note`);
    await Promise.all([owner.close(), one.close()]);
  });

  it("runs concurrent queries one after the other", async () => {
    const answers = tx(test.db, (tx) =>
      Promise.all([1, 2, 3, 4].map((number) => tx.one(sql`select ${number}::int as number`))),
    );
    expect(await answers).toEqual([1, 2, 3, 4].map((number) => ({ number })));
  });

  it("refuses queries after its end", async () => {
    let leaked: Tx | undefined;
    await tx(test.db, async (tx) => void (leaked = tx));
    await expect(add(leaked!, 1, 1n)).rejects.toThrow("the transaction is over");
    expect(await balanceOf(1)).toBe(100n);
  });

  it("calls afterCommit only after a commit", async () => {
    const ran: string[] = [];
    const tell = (name: string) => async (tx: Tx) => {
      afterCommit(tx, (db) => ran.push(`${name} in ${db.schema}`));
      if (name === "second") throw new Error("no");
      expect(ran).toEqual([]);
    };
    await tx(test.db, tell("first"));
    await tx(test.db, tell("second")).catch(() => undefined);
    expect(ran).toEqual(["first in sample"]);
  });
});

describe("a COMMIT whose reply is lost", () => {
  async function withLostReply(loses: string, check: (db: Database) => Promise<void>): Promise<void> {
    const target = new URL(test.url);
    let isAsked = false;
    const proxy = await startProxy({
      target: { host: target.hostname, port: Number(target.port) },
      onRequest: (chunk) => {
        isAsked ||= chunk.includes(loses);
      },
      // The connection ends before this answer is handed on.
      onAnswer: (_chunk, proxy) => {
        if (!isAsked) return;
        isAsked = false;
        proxy.setMode({ kind: "reset" });
        proxy.setMode({ kind: "pass" });
      },
    });
    target.port = String(proxy.port);
    const db = openTestDatabase(target.toString(), "sample");
    await check(db);
    await db.close();
    await proxy.close();
  }

  it("is unknown, and the work does not run again", async () => {
    await withLostReply("commit", async (db) => {
      let runs = 0;
      const work = tx(db, async (tx) => {
        runs += 1;
        await add(tx, 1, 5n);
      });
      await expect(work).rejects.toBeInstanceOf(CommitUnknownError);
      expect(runs).toBe(1);
      expect(await balanceOf(1)).toBe(105n);
    });
  });

  it("is also a warning at COMMIT, as after a cancelled wait for a stand-by", async () => {
    const owner = openTestDatabase(test.ownerUrl, "sample");
    await owner.run(sql`create table warned (id integer)`);
    await owner.run(sql`
      create function warn() returns trigger language plpgsql as
      $$ begin raise warning 'canceling wait for synchronous replication'; return null; end $$`);
    await owner.run(sql`
      create constraint trigger warn after insert on warned deferrable initially deferred
      for each row execute function warn()`);
    await owner.close();
    const work = tx(test.db, (tx) => tx.run(sql`insert into warned values (1)`));
    await expect(work).rejects.toBeInstanceOf(CommitUnknownError);
    await expect(test.db.run(sql`insert into warned values (2)`)).rejects.toBeInstanceOf(CommitUnknownError);
    expect(await test.db.query(sql`select id from warned order by id`)).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it("is unknown also when all statements were sent with it", async () => {
    await withLostReply("commit", async (db) => {
      let runs = 0;
      const work = tx(db, async (tx) => {
        runs += 1;
        tx.push(plusOne(1));
      });
      await expect(work).rejects.toBeInstanceOf(CommitUnknownError);
      expect(runs).toBe(1);
      // The reset comes with the first answer, when the server may not have committed yet.
      await eventually(async () => expect(await balanceOf(1)).toBe(101n));
    });
  });

  it("tells a lost commit from an earlier lost reply, after which the work runs again", async () => {
    await withLostReply("balance = 0", async (db) => {
      let runs = 0;
      await tx(db, async (tx) => {
        runs += 1;
        if (runs === 1) await tx.run(sql`update accounts set balance = 0`);
        await add(tx, 1, 5n);
      });
      expect(runs).toBe(2);
      expect([await balanceOf(1), await balanceOf(2)]).toEqual([105n, 100n]);
    });
  });
});
