import { Registry } from "../metrics";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  startProxy,
  testLog,
  type TestDatabase,
} from "../testing";
import {
  type Database,
  CommitUnknownError,
  isTransient,
  isUniqueViolation,
  named,
  openDatabase,
  rawSql,
  sql,
  tx,
} from ".";

let test: TestDatabase;
let admin: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  test = await createTestDatabase({ schema: "sample" });
  const owner = openTestDatabase(test.ownerUrl, "sample");
  await owner.run(sql`
    create table accounts (
      id integer primary key, balance bigint not null constraint floor check (balance >= 0), name text unique
    )`);
  await owner.close();
  admin = openTestDatabase(test.adminUrl, "sample");
});
afterAll(async () => {
  await admin.close();
  await test.drop();
});
beforeEach(async () => {
  await test.db.run(sql`delete from accounts`);
  await test.db.run(sql`insert into accounts (id, balance) values (1, 100), (2, 100)`);
});

const killOthers = () =>
  admin.run(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'test'`);

describe("rows", () => {
  it("checks the number of rows that a query returns", async () => {
    await expect(test.db.one(sql`select id from accounts`)).rejects.toThrow("expected one row, got 2");
    await expect(test.db.maybe(sql`select id from accounts`)).rejects.toThrow("at most one row");
    expect(await test.db.maybe(sql`select id from accounts where id = 9`)).toBeUndefined();
    expect(await test.db.run(sql`update accounts set balance = 0`)).toBe(2);
  });

  it("distinguishes violations by constraint", async () => {
    const twice = await test.db.run(sql`insert into accounts values (1, 0)`).catch((error: unknown) => error);
    expect(isUniqueViolation(twice)).toBe(true);
    expect(isUniqueViolation(twice, "accounts_pkey")).toBe(true);
    expect(isUniqueViolation(twice, "accounts_name_key")).toBe(false);
  });
});

describe("text that Postgres cannot store", () => {
  const writes = {
    "a NUL in a text": sql`update accounts set name = ${"a\0b"}`,
    "a NUL in an array": sql`update accounts set name = (${["a\0b"]}::text[])[1]`,
    "a NUL in JSON": sql`update accounts set name = ${JSON.stringify({ a: "\0" })}::jsonb ->> 'a'`,
  };
  it.each(Object.entries(writes))(
    "refuses %s with REQ_001, alone and in a transaction",
    async (_what, write) => {
      const refusal = { code: "REQ_001", details: { fields: [{ path: "request" }] } };
      await expect(test.db.run(write)).rejects.toMatchObject(refusal);
      const together = tx(test.db, async (tx) => {
        await tx.run(sql`update accounts set balance = 7`);
        await tx.run(write);
      });
      await expect(together).rejects.toMatchObject(refusal);
      expect(await test.db.query(sql`select distinct balance, name from accounts`)).toEqual([
        { balance: 100n, name: null },
      ]);
      expect(isTransient(await together.catch((error: unknown) => error))).toBe(false);
    },
  );
});

describe("losing connections", () => {
  it("survives idle connections that the server ends", async () => {
    await Promise.all([test.db.ping(), test.db.ping(), test.db.ping()]);
    await killOthers();
    await eventually(() => test.db.ping());
  });

  it("survives a connection that ends inside a transaction, and runs the work again", async () => {
    let runs = 0;
    await tx(test.db, async (tx) => {
      runs += 1;
      await tx.run(sql`update accounts set balance = balance + 1 where id = 1`);
      if (runs === 1) await killOthers();
      await tx.run(sql`update accounts set balance = balance - 1 where id = 2`);
    });
    expect(runs).toBe(2);
    expect(await test.db.query(sql`select balance from accounts order by id`)).toEqual([
      { balance: 101n },
      { balance: 99n },
    ]);
  });

  it("refuses with SYS_002 and the cause when the server is absent", async () => {
    const nowhere = openTestDatabase("postgres://nobody@127.0.0.1:1/none", "sample");
    const error: unknown = await nowhere.query(sql`select 1`).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "SYS_002", cause: { code: "ECONNREFUSED" } });
    await nowhere.close();
  });

  it("refuses with SYS_002 when every connection is in use for too long", async () => {
    const small = openDatabase({
      url: test.url,
      schema: "sample",
      applicationName: "small",
      max: 1,
      connectTimeoutMs: 1_000,
      log: testLog(),
    });
    // The first connection has the same timeout, which a busy machine may need more than once.
    await eventually(() => small.ping());
    await tx(small, async () => {
      await expect(small.query(sql`select 1`)).rejects.toMatchObject({ code: "SYS_002" });
    });
    await small.ping();
    await small.close();
  });

  it("serves all waiting queries before it closes", async () => {
    const small = openTestDatabase(test.url, "sample", { max: 1 });
    const asked = [1, 2, 3].map(() => small.query(sql`select 1 as one`));
    await Promise.all([...asked, small.close()]);
  });

  it("gives up a connection that never answers", async () => {
    const target = new URL(test.url);
    const proxy = await startProxy({ target: { host: target.hostname, port: Number(target.port) } });
    target.port = String(proxy.port);
    const db = openDatabase({
      url: target.toString(),
      schema: "sample",
      applicationName: "halfopen",
      answerGraceMs: 500,
      connectTimeoutMs: 1_000,
      statementTimeoutMs: 500,
      log: testLog(),
    });
    await eventually(() => db.ping());
    proxy.setMode({ kind: "blackhole" });
    await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: "SYS_002" });
    await expect(db.run(sql`update accounts set balance = 0`)).rejects.toMatchObject({ code: "SYS_002" });
    proxy.setMode({ kind: "pass" });
    await eventually(() => db.ping());
    await db.close();
    await proxy.close();
  });

  it("gives up all connections that fell silent together after one unanswered query", async () => {
    const target = new URL(test.url);
    const proxy = await startProxy({ target: { host: target.hostname, port: Number(target.port) } });
    target.port = String(proxy.port);
    const short = { answerGraceMs: 500, statementTimeoutMs: 500 };
    const db = openTestDatabase(target.toString(), "sample", { max: 4, ...short });
    await Promise.all([1, 2, 3, 4].map(() => db.query(sql`select pg_sleep(0.2)`)));
    expect(proxy.connections).toBe(4);
    proxy.setMode({ kind: "halfOpen" });
    await expect(db.query(sql`select 1`)).rejects.toMatchObject({ code: "SYS_002" });
    for (const _ of [1, 2, 3, 4, 5]) await db.ping();
    expect(await Promise.all([1, 2, 3, 4].map(() => db.one(sql`select 1 as one`)))).toHaveLength(4);
    await db.close();
    await proxy.close();
  });

  it("closes a silent dedicated connection without waiting for the server", async () => {
    const target = new URL(test.url);
    const proxy = await startProxy({ target: { host: target.hostname, port: Number(target.port) } });
    target.port = String(proxy.port);
    const db = openTestDatabase(target.toString(), "sample");
    const listener = await db.listen("silent", () => undefined);
    await db.dedicated(async () => proxy.setMode({ kind: "halfOpen" }));
    await listener.close();
    await db.close();
    await proxy.close();
  });

  const STATEMENT = sql`with changed as (update accounts set balance = 7 where id = 1 returning 1)
    select 'answer is lost' as text from changed`;

  it.each<[string, string, (db: Database) => Promise<unknown>]>([
    ["run", "SYS_003", (db) => db.run(STATEMENT)],
    ["write", "SYS_003", (db) => db.write(STATEMENT)],
    ["query", "SYS_002", (db) => db.query(sql`select 'answer is lost' as text`)],
    ["one", "SYS_002", (db) => db.one(sql`with one as (select 1) select 'answer is lost' as text from one`)],
  ])("answers a lost %s with %s", async (_method, code, ask) => {
    const target = new URL(test.url);
    let isAsked = false;
    const proxy = await startProxy({
      target: { host: target.hostname, port: Number(target.port) },
      onRequest: (chunk) => (isAsked ||= chunk.includes("answer is lost")),
      // The connection ends before this answer is handed on.
      onAnswer: (_chunk, proxy) => {
        if (isAsked) proxy.setMode({ kind: "reset" });
      },
    });
    target.port = String(proxy.port);
    const db = openTestDatabase(target.toString(), "sample");
    const error: unknown = await ask(db).catch((error: unknown) => error);
    expect(error instanceof CommitUnknownError).toBe(code === "SYS_003");
    expect(error).toMatchObject({ code });
    await db.close();
    await proxy.close();
  });

  it("refuses a lone write that is declared as a read", async () => {
    const statement = sql`update accounts set balance = 8 where id = 1 returning balance`;
    await expect(test.db.query(statement)).rejects.toThrow("declare this statement with run or write");
    expect(await test.db.write(statement)).toEqual([{ balance: 8n }]);
  });
});

describe("limits", () => {
  it("stops a slow statement with SYS_002", async () => {
    const hasty = openDatabase({
      url: test.url,
      schema: "sample",
      applicationName: "hasty",
      statementTimeoutMs: 50,
      log: testLog(),
    });
    await expect(hasty.query(sql`select pg_sleep(1)`)).rejects.toMatchObject({ code: "SYS_002" });
    await hasty.close();
  });

  it("keeps the service's role inside its own schema", async () => {
    await admin.run(
      rawSql("create schema if not exists other; create table if not exists other.secrets (id int)"),
    );
    await expect(test.db.query(sql`select * from other.secrets`)).rejects.toThrow(
      "permission denied for schema other",
    );
    await expect(test.db.query(sql`create table public.mine (id int)`)).rejects.toThrow(
      "permission denied for schema public",
    );
    await expect(test.db.query(sql`create schema mine`)).rejects.toThrow("permission denied for database");
    await expect(test.db.query(sql`create temporary table mine (id int)`)).rejects.toThrow(
      "permission denied",
    );
    await expect(test.db.query(sql`set role wonrail_sample_owner`)).rejects.toThrow("permission denied");
  });
});

describe("metrics", () => {
  it("times named statements and shows each pool", async () => {
    const registry = new Registry();
    const options = { url: test.url, applicationName: "metrics", log: testLog(), registry };
    const db = openDatabase({ ...options, schema: "sample" });
    const bus = openDatabase({ ...options, schema: "bus" });
    await db.query(named("find_accounts", sql`select id from accounts where id = ${1}`));
    await db.query(sql`select 1`);
    const text = await registry.metrics();
    expect(text).toContain('db_query_duration_seconds_count{query="find_accounts"} 1');
    expect(text).toContain('pg_pool_total{schema="sample"} 1');
    expect(text).toContain('pg_pool_idle{schema="sample"} 1');
    expect(text).toContain('pg_pool_waiting{schema="bus"} 0');
    await Promise.all([db.close(), bus.close()]);
    expect(await registry.metrics()).not.toContain('pg_pool_total{schema="bus"}');
  });
});

describe("listen", () => {
  it("hears notifications, and resumes after a lost connection", async () => {
    const heard: string[] = [];
    const listener = await test.db.listen("news", (payload) => heard.push(payload));
    await test.db.run(sql`select pg_notify('news', 'one')`);
    await eventually(() => expect(heard).toEqual(["", "one"]));
    await killOthers();
    await eventually(() => expect(heard).toEqual(["", "one", ""]));
    await eventually(() => test.db.run(sql`select pg_notify('news', 'two')`));
    await eventually(() => expect(heard.at(-1)).toBe("two"));
    await listener.close();
  });

  it("starts when the server comes, if it was absent at first", async () => {
    const target = new URL(test.url);
    const proxy = await startProxy({
      target: { host: target.hostname, port: Number(target.port) },
      mode: { kind: "reset" },
    });
    target.port = String(proxy.port);
    const db = openTestDatabase(target.toString(), "sample");
    const heard: string[] = [];
    const listener = await db.listen("late", (payload) => heard.push(payload));
    expect(heard).toEqual([]);
    proxy.setMode({ kind: "pass" });
    await eventually(() => expect(heard).toEqual([""]));
    await listener.close();
    await db.close();
    await proxy.close();
  });

  it("gives up a connection that never answers, and starts on the next one", async () => {
    const target = new URL(test.url);
    let asked = 0;
    const proxy = await startProxy({
      target: { host: target.hostname, port: Number(target.port) },
      onRequest: (chunk, proxy) => {
        if (!chunk.includes("listen")) return;
        asked += 1;
        if (asked === 1) proxy.setMode({ kind: "halfOpen" });
      },
    });
    target.port = String(proxy.port);
    const db = openDatabase({
      url: target.toString(),
      schema: "sample",
      applicationName: "halfopen",
      answerGraceMs: 500,
      statementTimeoutMs: 500,
      log: testLog(),
    });
    const heard: string[] = [];
    const listener = await db.listen("swallowed", (payload) => heard.push(payload));
    await eventually(() => expect(heard).toContain(""));
    expect(asked).toBeGreaterThan(1);
    await listener.close();
    await db.close();
    await proxy.close();
  });
});

describe("dedicated", () => {
  it("lends one connection for the duration of the work", async () => {
    const lock = sql`select pg_try_advisory_lock(42) as mine`;
    await test.db.dedicated(async (connection) => {
      expect(await connection.one(lock)).toEqual({ mine: true });
      expect(await test.db.one(lock)).toEqual({ mine: false });
    });
    await eventually(async () => expect(await admin.one(lock)).toEqual({ mine: true }));
  });
});
