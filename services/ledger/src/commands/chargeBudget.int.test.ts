import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { testLog } from "@wonrail/kit/testing";
import { chargeOf } from "../domain/testing/requests";
import { createChargeBudget, type ChargeBudget } from "./chargeBudget";
import { postTo, requestOf, soundLedger, testEngine } from "./testing/ledger";

const ledger = soundLedger();
const LIMIT = 1_000_000n;
const DAY_MS = 24 * 3_600_000;

test("replicas together hand out the limit of a day and no more, and a new day begins anew", async () => {
  let nowMs = Date.parse("2031-03-01T03:00:00Z");
  const replicas = [1, 2, 3].map(() => budget(() => nowMs));
  const rooms = await Promise.all(
    Array.from({ length: 60 }, (_, index) => replicas[index % 3]!.reserve(20_000n)),
  );
  const sum = rooms.reduce((total, { roomWon }) => total + roomWon, 0n);
  expect(sum).toBe(LIMIT);
  expect((await replicas[0]!.reserve(1n)).roomWon).toBe(0n);

  replicas[0]!.giveBack({ day: rooms[0]!.day, roomWon: won(5n) });
  expect((await replicas[0]!.reserve(9n)).roomWon).toBe(5n);
  nowMs += DAY_MS;
  expect((await replicas[1]!.reserve(LIMIT)).roomWon).toBe(LIMIT);
  // A batch of the day before gives nothing back to this day.
  replicas[1]!.giveBack({ day: rooms[0]!.day, roomWon: won(5n) });
  expect((await replicas[1]!.reserve(1n)).roomWon).toBe(0n);
});

test("charges of all organisations and replicas stop at the service's limit, and a refused one uses nothing", async () => {
  const { db } = ledger.database;
  const engines = [1, 2].map(() => testEngine({ db, chargeBudget: budget(Date.now) }));
  const orgs = [ledger.orgId, newId("org")];
  const wallets = await Promise.all(
    orgs.map(async (orgId) => {
      const walletId = newId("wal");
      const open = { kind: "openAccount", walletId, userId: "kim", type: "NORMAL" } as const;
      await postTo(engines[0]!, requestOf(orgId, open));
      return { orgId, walletId };
    }),
  );
  const charge = (replica: number, org: number, amount: bigint) => {
    const { orgId, walletId } = wallets[org]!;
    return postTo(engines[replica]!, requestOf(orgId, chargeOf(walletId, amount)));
  };
  expect(await charge(0, 0, 600_000n)).toMatchObject({ status: "posted" });
  expect(await charge(1, 1, 500_000n)).toMatchObject({
    code: "CHG_008",
    details: { reason: "service_limit" },
  });
  // The second replica has the rest in hand.
  expect(await charge(0, 0, 1n)).toMatchObject({ code: "CHG_008" });
  expect(await charge(1, 1, 399_000n)).toMatchObject({ status: "posted" });
  expect(await charge(1, 0, 1_000n)).toMatchObject({ status: "posted" });
  expect(await charge(1, 0, 1n)).toMatchObject({ code: "CHG_008" });
  for (const engine of engines) await engine.close();
});

function budget(now: () => number): ChargeBudget {
  return createChargeBudget({ db: ledger.database.db, log: testLog(), limitWon: won(LIMIT), now });
}
