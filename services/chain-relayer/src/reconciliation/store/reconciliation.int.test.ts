import { sql } from "@wonrail/kit/db";
import { freshDatabase } from "../../testing/database";
import { claimReconciliation } from "./reconciliation";

const database = freshDatabase();
const EVERY_MS = 60_000;
const claim = () => claimReconciliation(database.db, EVERY_MS);

test("one of several replicas claims a reconciliation run", async () => {
  expect((await Promise.all([claim(), claim(), claim()])).sort()).toEqual([false, false, true]);
  expect(await claim()).toBe(false);
});

test.each<[string, number, number | null, boolean]>([
  ["began within the interval, and was done at once", 59, 59, false],
  ["began an interval ago, and was done at once", 61, 61, true],
  ["began an interval ago, and never ended", 61, null, true],
  ["took ten seconds, and ended a minute and a half ago", 100, 90, false],
  ["took two seconds, and ended a minute and a half ago", 92, 90, true],
  ["took ten seconds, and ended four intervals ago", 251, 241, true],
  ["was begun by a replica whose clock's reading is a moment later", -1, null, false],
  ["began an hour from now, since the clock was set back", -3_600, -3_601, true],
])(
  "a run is claimed by the interval where the last comparison %s",
  async (_, beganAgo, endedAgo, isClaimed) => {
    await database.db.run(sql`
    update reconciliation set started_at = now() - make_interval(secs => ${beganAgo}),
      finished_at = now() - make_interval(secs => ${endedAgo})`);
    expect(await claim()).toBe(isClaimed);
  },
);

test("a second run starts an interval after an unfinished one, whose replica may have died", async () => {
  await database.db.run(sql`
    update reconciliation set started_at = now() - interval '61 seconds', finished_at = now() - interval '62 seconds'`);
  expect(await claim()).toBe(true);
});
