import { Registry } from "@wonrail/kit/metrics";
import { createUnheardWatch } from "./unheardWatch";

const LOST = { orgId: "org_b", walletId: "wal_lost", sequence: 7n };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test("however much of one organisation is on the shelf, what another's wallet has lost is told of", () => {
  const { comparison } = watching();
  const shelved = Array.from({ length: 12_000 }, (_, number) => ({
    ...{ orgId: "org_a", walletId: `wal_${number}`, sequence: 1n },
  }));
  comparison(shelved, []);
  comparison(shelved, [LOST], MINUTE_MS);
  expect(comparison(shelved, [LOST], 9 * MINUTE_MS)).toMatchObject([{ ...LOST, seconds: 540 }]);
});

test("what has been on the shelf for too long hides nothing, and is told of beside it", () => {
  const { comparison } = watching();
  const shelved = [{ orgId: "org_a", walletId: "wal_a", sequence: 1n }];
  for (let passedMs = 0; passedMs < 13 * HOUR_MS; passedMs += 9 * MINUTE_MS)
    comparison(shelved, [], 9 * MINUTE_MS);
  comparison(shelved, [LOST], MINUTE_MS);
  const told = comparison(shelved, [LOST], 5 * MINUTE_MS);
  expect(told.map(({ walletId }) => walletId)).toEqual(["wal_lost", "wal_a"]);
  expect(told[0]!.seconds).toBe(300);
});

test("of those that are on no shelf so many are remembered, the first", () => {
  const { comparison } = watching();
  const many = Array.from({ length: 10_001 }, (_, number) => ({ ...LOST, walletId: `wal_${number}` }));
  comparison([], many);
  expect(comparison([], many.slice(-2), MINUTE_MS)).toMatchObject([{ walletId: "wal_9999", seconds: 60 }]);
});

function watching() {
  let nowMs = HOUR_MS;
  const watch = createUnheardWatch(new Registry(), () => nowMs);
  const comparison = (shelved: (typeof LOST)[], others: (typeof LOST)[], passedMs = 0) => {
    nowMs += passedMs;
    const round = watch.begin();
    for (const one of shelved) round.note(one, true);
    for (const one of others) round.note(one, false);
    return round.end();
  };
  return { comparison };
}
