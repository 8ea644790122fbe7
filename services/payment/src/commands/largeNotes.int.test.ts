import { catchUp, readJournal } from "./testing/events";
import { cancelCharge, charge } from "./testing/commands";
import { openWorld, valueOf, type World } from "./testing/world";

// Notes at every limit, four bytes for each character: some 22 KB in each entry.

const COUNT = 120;
const NOTES = {
  memo: "😀".repeat(200),
  reference: "😀".repeat(100),
  metadata: Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`${index}${"😀".repeat(39)}`, "😀".repeat(500)]),
  ),
};

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.close());

const all = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: COUNT }, (_, index) => work(index)));

test("commands with the largest notes succeed when many of them queue", async () => {
  const { walletId } = await world.openWallet();
  const charged = await all(() => world.execute(charge(walletId, 1_000, NOTES)));
  const ids = charged.map((answer) => valueOf(answer, "charge").chargeId);
  // The answer to a cancellation carries the notes of the charge too.
  const cancelled = await all((index) => world.execute(cancelCharge(ids[index]!, 1_000, NOTES)));
  expect(cancelled.map((answer) => valueOf(answer, "cancelledCharge").charge?.metadata)).toEqual(
    ids.map(() => NOTES.metadata),
  );
}, 60_000);

test("the journal of the largest entries is read in several pages, and projected", async () => {
  const entries = await readJournal(world);
  const sequences = entries.map(({ orgSequence }) => Number(orgSequence));
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  expect(entries.length).toBeGreaterThan(2 * COUNT);
  await catchUp(world);
  const page = { limit: 100, offset: 0, after: null };
  const { items } = await world.app().listCharges({ orgId: world.orgId, walletId: null, page });
  expect(items).toHaveLength(100);
}, 60_000);
