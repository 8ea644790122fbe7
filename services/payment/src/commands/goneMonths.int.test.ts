import { randomUUID } from "node:crypto";
import { rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { asOwner, type Command, openWorld, type World } from "./testing/world";

let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

test("what was open when its month left the ledger is not written down as refused; perhaps it was posted", async () => {
  const { walletId } = await world.openWallet();
  const command: Command = { $case: "charge", value: { walletId, amountWon: "1000", memo: undefined } };
  const key = randomUUID();
  await world.execute(command, key);
  const old = newId("chg", Date.now() - 90 * 24 * 3_600_000);
  await asOwner(
    world.payment,
    `update operations set operation_id = '${old}', state = 'CLAIMED', answer = null, updated_at = now() - interval '6 seconds'`,
  );
  await world.app().finishAbandoned();
  await expect(world.execute(command, key)).rejects.toMatchObject({ code: "SYS_003" });
  const state = await world.payment.db.one(rawSql("select state from operations"));
  expect(state).toEqual({ state: "CLAIMED" });
}, 60_000);
