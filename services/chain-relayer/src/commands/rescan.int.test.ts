import { findCursor, saveCursor } from "../store/scanCursor";
import { rescan } from "./rescan";
import { blockHashOf, createChainDouble } from "./testing/chainDouble";
import { freshDatabase } from "./testing/database";

const database = freshDatabase();
const CURSOR = { blockNumber: 1_000n, blockHash: blockHashOf(1_000n), blockTime: 1n };

test("goes back on the chain that was taken in, and no further forward than that", async () => {
  await saveCursor(database.db, CURSOR);
  const { provider } = createChainDouble();
  expect(await rescan({ db: database.db, provider }, 1_001n)).toBe("not_taken_in_yet");
  expect(await findCursor(database.db)).toEqual(CURSOR);
  expect(await rescan({ db: database.db, provider }, 901n)).toBe("rewound");
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 900n, blockHash: blockHashOf(900n) });
});

test("leaves the cursor where it is when final blocks were replaced, also from before the first of them", async () => {
  await saveCursor(database.db, CURSOR);
  const chain = createChainDouble();
  chain.replacedFrom = 990n;
  for (const from of [1_000n, 991n, 990n, 901n])
    expect(await rescan({ db: database.db, provider: chain.provider }, from)).toEqual({ replacedAt: 1_000n });
  expect(await findCursor(database.db)).toEqual(CURSOR);
});
