import { randomUUID } from "node:crypto";
import { rawSql } from "@wonrail/kit/db";
import { hangAt } from "./testing/failpoints";
import { type Command, openWorld, type World } from "./testing/world";

// What cannot be brought to its end keeps nobody beside it from his.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

const none = { memo: undefined };
const charge = (walletId: string): Command => ({
  $case: "charge",
  value: { walletId, amountWon: "1000", ...none },
});

test("a part of a charge that is not written down yet: it alone is unknown, not what is written down with it", async () => {
  const { walletId } = await world.openWallet();
  const { reached, goOn } = hangAt("payment.posted");
  const first = world.execute(charge(walletId));
  await reached;
  const [{ chargeId }] = (await world.payment.db.query<{ chargeId: string }>(
    rawSql(`select operation_id as "chargeId" from operations where answer is null`),
  )) as [{ chargeId: string }];

  const cancel: Command = { $case: "cancelCharge", value: { chargeId, amountWon: "400", ...none } };
  const key = randomUUID();
  const answers = await Promise.allSettled([
    world.execute(cancel, key),
    ...Array.from({ length: 5 }, () => world.execute(charge(walletId))),
  ]);
  expect(answers[0]).toMatchObject({ status: "rejected", reason: { code: "SYS_003" } });
  expect(answers.slice(1).map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));

  goOn();
  await first;
  expect(await world.execute(cancel, key)).toMatchObject({ outcome: { $case: "cancelledCharge" } });
  expect(await world.balances(walletId)).toEqual([5_600]);
}, 60_000);
