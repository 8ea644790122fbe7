import { testOperator } from "@wonrail/kit/testing";
import { sql } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { beginReopening } from "./commands/reopenWallets";
import { openWorld, type World } from "./commands/testing/world";
import { jobs } from "./jobs";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("every job runs twice, also without work", async () => {
  const signal = new AbortController().signal;
  for (const job of [...jobs(world.app), ...jobs(world.app)]) await job.run(signal);
});

test("scheduled jobs finish interrupted wallets, reopen requested ones and delete old sums", async () => {
  const { client, database, ledger } = world;
  const orgId = newId("org");
  const create = (userId: string) =>
    client.createWallet({ orgId, userId, walletType: WalletType.NORMAL, metadata: {} });
  const { walletId } = (await create("kim")).wallet!;
  await client.deactivateWallet({ orgId, walletId });
  const asked = { orgId, walletId };
  await beginReopening({ db: database.db, newRequestId: () => newId("req") }, asked, testOperator());
  ledger.refuse = () => new DomainError("SYS_002");
  await expect(create("lee")).rejects.toMatchObject({ code: "SYS_003" });
  ledger.refuse = () => undefined;
  await database.db.run(sql`update wallets set updated_at = now() - interval '1 minute'`);
  await database.db.run(sql`insert into velocity values ('all', now() - interval '3 days', 1)`);

  for (const job of jobs(world.app)) await job.run(new AbortController().signal);
  const statuses = await database.db.query(sql`select user_id, status from wallets order by user_id`);
  expect(statuses).toEqual([
    { user_id: "kim", status: "ACTIVE" },
    { user_id: "lee", status: "ACTIVE" },
  ]);
  expect(await database.db.query(sql`select from velocity`)).toEqual([]);
});
