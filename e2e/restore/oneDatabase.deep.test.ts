import { openDatabase, rawSql } from "@wonrail/kit/db";
import { testLog } from "@wonrail/kit/testing";
import { databaseOf } from "@wonrail/local/databases";
import { provision } from "@wonrail/local/provision";
import { openSecrets } from "@wonrail/local/secrets";
import { SERVICES, type ServicePlace } from "@wonrail/local/services";
import { missingKafkaReason } from "../bus/ownServer";
import { openWallet } from "../money/scenes";
import { type Json } from "../support/api";
import { reportSkipped } from "../support/reportSkipped";
import { executionsOf } from "./chainFacts";
import { wonrailJson } from "./commands";
import {
  expectSoundBooks,
  openRestoreWorld,
  type Order,
  repeat,
  type RestoreWorld,
  resume,
  SERVICE_NAMES,
  startServices,
  stopServices,
  untilCompared,
  untilSettled,
} from "./world";

// The test replaces the database of one service by an older copy. The databases of the other services
// are ahead of it.

jest.setTimeout(1_200_000);

const ORDERS = 3;
const COPY = "older_copy";
const BEFORE_RELAYER = SERVICE_NAMES.filter((name) => name !== "chain-relayer");

const missing = missingKafkaReason();
if (missing !== undefined) reportSkipped(`no single database is restored, ${missing}`);

(missing === undefined ? describe : describe.skip)("a restore of one database", () => {
  let world: RestoreWorld;

  beforeAll(async () => {
    world = await openRestoreWorld("kafka");
  });
  afterAll(() => world?.close());

  test.each(SERVICES.map((place) => [place.name, place] as const))(
    "of %s loses no order that partners repeat, and the chain pays nothing twice",
    async (name, place) => {
      await copyDatabase(place);
      const lateWallet = await openWallet(world.api, 0);
      const orders: Order[] = [];
      for (let number = 0; number < ORDERS; number += 1) orders.push(await world.order(number));
      await untilSettled(world, orders);

      await stopServices(world, SERVICE_NAMES);
      await restoreDatabase(place);
      await startServices(world, BEFORE_RELAYER);
      const entered = await wonrailJson(world.stack, "restore", "reenter", "--reason", `lost ${name}`);
      expect(entered).toMatchObject({ wallets: { problems: [] }, entries: { problems: [] } });
      await startServices(world, ["chain-relayer"]);
      await wonrailJson(world.stack, "restore", "prepare", "--reason", `lost ${name}`);
      expect((await untilCompared(world)).differences).toEqual([]);
      await resume(world);

      const executions = await executionsOf(world.stack.stack());
      for (const order of orders) expect(await repeat(world, order)).toBe(order.id);
      await untilSettled(world, orders);
      expect(await executionsOf(world.stack.stack())).toEqual(executions);
      const { walletAddress } = await world.api.get(`/api/wallets/${lateWallet.walletId}`);
      expect(walletAddress).toBe(lateWallet.walletAddress);
      const published = new Set((await publicEvents()).map(({ objectId }: Json) => objectId));
      expect(orders.filter(({ id }) => !published.has(id))).toEqual([]);
      await expectSoundBooks(world);
    },
  );

  /** Copies a database while its service is stopped, because PostgreSQL copies no database in use. */
  async function copyDatabase({ name, schema }: ServicePlace): Promise<void> {
    await stopServices(world, [name]);
    await run(`drop database if exists ${COPY}`, `create database ${COPY} template ${databaseOf(schema)}`);
    await startServices(world, [name]);
  }

  async function restoreDatabase({ schema }: ServicePlace): Promise<void> {
    const database = databaseOf(schema);
    await run(`drop database ${database} with (force)`, `create database ${database} template ${COPY}`);
    // The rights on a database are not part of its copy.
    await provision(world.postgres.adminUrl, openSecrets(world.stack.home), testLog());
  }

  async function run(...statements: string[]): Promise<void> {
    const place = { url: world.postgres.adminUrl, schema: "public", applicationName: "restore" };
    const db = openDatabase({ ...place, max: 1, log: testLog() });
    try {
      for (const statement of statements) await db.run(rawSql(statement));
    } finally {
      await db.close();
    }
  }

  async function publicEvents(): Promise<Json[]> {
    const events: Json[] = [];
    for (let after = "0", hasNext = true; hasNext;) {
      const page = await world.api.get(`/api/events?limit=100&after=${after}`);
      events.push(...page.items);
      ({ nextAfter: after, hasNext } = page.pagination);
    }
    return events;
  }
});
