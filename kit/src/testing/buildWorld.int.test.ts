import { existsSync } from "node:fs";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { sql } from "../db";
import { implement } from "../grpc/server";
import { openTestDatabase } from ".";
import { buildWorld } from "./buildWorld";

describe("buildWorld", () => {
  let closed: string[];
  const part = (name: string, error?: Error) => ({
    name,
    async close() {
      closed.push(name);
      if (error) throw error;
    },
  });
  beforeEach(() => {
    closed = [];
  });

  it("closes the parts in reverse order", async () => {
    const world = await buildWorld(async (parts) => {
      const first = await parts.use(part("first"));
      await parts.use(Promise.resolve(part("second")));
      parts.onClose(() => closed.push("third"));
      return { first };
    });
    expect(world.first.name).toBe("first");
    expect(closed).toEqual([]);
    await world.close();
    expect(closed).toEqual(["third", "second", "first"]);
  });

  it("closes the parts of an app in the order of their opening", async () => {
    const world = await buildWorld(async (parts) => {
      await parts.use(part("database"));
      const app = parts.app((onClose) => {
        onClose("queue", () => part("queue").close());
        onClose("clients", () => part("clients").close());
        return "app";
      });
      await parts.use(part("server"));
      return { app };
    });
    await world.close();
    expect(world.app).toBe("app");
    expect(closed).toEqual(["server", "queue", "clients", "database"]);
  });

  it("closes the opened parts when the building fails, and throws its error", async () => {
    const building = buildWorld(async (parts) => {
      await parts.use(part("first", new Error("closing failed")));
      await parts.use(part("second"));
      throw new Error("building failed");
    });
    await expect(building).rejects.toThrow("building failed");
    expect(closed).toEqual(["second", "first"]);
  });

  it("closes all parts when some fail to close, and throws the first error", async () => {
    const world = await buildWorld(async (parts) => {
      await parts.use(part("first", new Error("the second error")));
      await parts.use(part("second", new Error("the first error")));
      await parts.use(part("third"));
      return {};
    });
    await expect(world.close()).rejects.toThrow("the first error");
    expect(closed).toEqual(["third", "second", "first"]);
  });

  it("closes each part once when it is closed twice", async () => {
    const world = await buildWorld(async (parts) => ({ part: await parts.use(part("first")) }));
    await Promise.all([world.close(), world.close()]);
    await world.close();
    expect(closed).toEqual(["first"]);
  });

  it("opens a database, a server, a proxy, a client and files, and removes them", async () => {
    const request = { orgId: "org_1", accountIds: ["wal_1"] };
    const world = await buildWorld(async (parts) => {
      const database = await parts.database({ schema: "sample" });
      const server = await parts.server([
        implement(LedgerServiceService, { getBalances: async () => ({ accounts: [] }) }),
      ]);
      const proxy = await parts.proxy(server.address);
      const client = parts.client(LedgerServiceService, `${proxy.host}:${proxy.port}`);
      return { database, client, proxy, kekPath: parts.kekFile() };
    });
    expect(await world.database.db.one(sql`select count(*) from outbox_pending`)).toEqual({ count: 0n });
    expect(await world.client.getBalances(request)).toEqual({ accounts: [] });
    expect(world.proxy.connections).toBe(1);
    expect(existsSync(world.kekPath)).toBe(true);

    await world.close();
    expect(existsSync(world.kekPath)).toBe(false);
    await expect(world.client.getBalances(request)).rejects.toThrow();
    const late = openTestDatabase(world.database.url, "sample", { connectTimeoutMs: 3_000 });
    await expect(late.query(sql`select 1`)).rejects.toThrow();
    await late.close();
  });
});
