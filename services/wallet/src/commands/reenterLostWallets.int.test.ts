import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId, uuidToId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { testOperator } from "@wonrail/kit/testing";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { openWorld, type World } from "./testing/world";

let folder: string;
let world: World;
let orgId: string;
/** The organisation's events, as Kafka has them. */
let topic: Message[] = [];

interface Message {
  id: string;
  type: string;
  walletId: string;
  version: bigint;
  payload: Buffer;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "escrow-"));
  world = await openWorld({ SEED_ESCROW_FOLDER: folder }, async ({ handle }) => {
    for (const [index, { id, type, walletId, version, payload }] of topic.entries())
      await handle({
        ...{ topic: "wonrail.wallet.v1", partition: 0, key: walletId, offset: `${index}`, value: payload },
        headers: {
          ...{ event_id: uuidToId("evt", id), event_type: type, aggregate_id: walletId },
          ...{ org_id: orgId, version: `${version}` },
        },
      });
  });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  orgId = newId("org");
  topic = [];
});

test("lost wallets get their ids, addresses, metadata and states again, also with a lost seed", async () => {
  const kim = await create("kim");
  const lee = await create("lee");
  await world.client.updateWallet({ orgId, walletId: kim.walletId, metadata: { desk: "2" } });
  await world.client.deactivateWallet({ orgId, walletId: lee.walletId });
  const rows = await stored();
  await lose();
  expect(await reenter()).toEqual({ wallets: 2, known: 0, problems: [] });
  expect(await stored()).toEqual(rows);
  // Services that were restored too learn the wallets from these events. Others know their ids.
  expect(await events()).toEqual(topic);
  expect(await reenter()).toEqual({ wallets: 0, known: 4, problems: [] });
});

test("a wallet is not entered again when its user has another one, or its seed is lost", async () => {
  const kim = await create("kim");
  await lose();
  const other = await create("kim");
  expect((await reenter()).problems).toEqual([
    `${kim.walletId}: the user kim has another wallet of this type now`,
  ]);
  expect(await stored()).toMatchObject([{ wallet_id: other.walletId }]);
  await lose();
  rmSync(join(folder, `${orgId}.json`));
  expect((await reenter()).problems).toContain(
    `${kim.walletId}: the seed of its organisation is lost: see SEED_ESCROW_FOLDER`,
  );
});

async function create(userId: string) {
  const request = { orgId, userId, walletType: WalletType.NORMAL, metadata: { desk: "1" } };
  return (await world.client.createWallet(request)).wallet!;
}

/** Deletes the organisation's rows, as a restore to an earlier time does. Kafka keeps the events. */
async function lose(): Promise<void> {
  const { db } = world.database;
  topic = [...topic, ...(await events())];
  await db.run(sql`delete from wallets where org_id = ${orgId}`);
  await db.run(sql`delete from seeds where org_id = ${orgId}`);
  await db.run(sql`delete from outbox_pending where id in (select id from outbox where org_id = ${orgId})`);
  await db.run(sql`delete from outbox where org_id = ${orgId}`);
}

async function reenter() {
  const { wallets, known, problems } = (await world.app.reenterLostWallets(testOperator()))!;
  return { wallets, known, problems };
}

function events(): Promise<Message[]> {
  return world.database.db.query<Message>(sql`
    select event_id as id, type, aggregate_id as "walletId", version, payload from outbox where org_id = ${orgId} order by id`);
}

function stored() {
  return world.database.db.query<Record<string, unknown>>(sql`
    select wallet_id, user_id, wallet_type, address, key_index, status, metadata, version from wallets
    where org_id = ${orgId} order by wallet_id`);
}
