import { sql } from "../db";
import { listDeadLetters } from "../inbox";
import { recordTerminal } from "../testing";
import { buildWorld } from "../testing/buildWorld";
import { createAdminService, listOperatorActions } from ".";
import { main } from "./deadLettersCommand";

const world = buildWorld(async (open) => {
  const { db } = await open.database({ schema: "sample" });
  const { address } = await open.server([
    createAdminService({ db, service: "sample", commit: "0", topic: undefined }),
  ]);
  await db.run(sql`
    insert into dead_letters (consumer_group, topic, partition, feed_number, message_key, event_type, headers, payload, digest, error, failures)
    values ('sample.settlements', 'wonrail.ledger.v1', 0, '7', 'wal_1', 'noted', '{}', '', '', 'the wallet does not exist', 5)`);
  return { db, config: { PAYMENT_ADDRESS: address, USER: "kim" } };
});
afterAll(async () => (await world).close());

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { terminal, output } = recordTerminal();
  const code = await main(args, terminal, (await world).config);
  return { code, ...output };
}

test("an operator in the service's pod lists dead letters and replays them", async () => {
  const { db } = await world;
  const { code, out } = await run("list", "--service", "payment");
  expect(code).toBe(0);
  const letter = JSON.parse(out) as { id: string };
  expect(letter).toMatchObject({
    eventType: "noted",
    error: "the wallet does not exist",
    state: "DEAD_LETTER_STATE_DEAD",
  });
  const replay = ["replay", "--service", "payment", "--reason", "the wallet exists now"];
  expect((await run(...replay, "--id", letter.id)).code).toBe(0);
  expect(await listDeadLetters(db)).toMatchObject([{ state: "replay_requested" }]);
  expect((await run(...replay, "--group", "sample.settlements")).code).toBe(1);
  expect(await listOperatorActions(db, { limit: 10 })).toMatchObject([
    {
      operator: "kim",
      method: "wonrail.common.v1.AdminService/ReplayDeadLetters",
      subject: `dead letter ${letter.id}`,
      reason: "the wallet exists now",
    },
  ]);
});

test("an empty reason is refused before anything changes", async () => {
  expect(await run("replay", "--service", "payment", "--group", "any", "--reason", " ")).toEqual({
    code: 1,
    out: "",
    err: "reason: must be 1 to 500 characters\n",
  });
});

test.each([
  ["forget"],
  ["list"],
  ["list", "--service", "nowhere"],
  ["replay", "--service", "payment", "--reason", "x"],
  ["replay", "--service", "payment", "--reason", "x", "--id", "x"],
  ["replay", "--service", "payment", "--reason", "x", "--id", "0x1"],
  ["replay", "--service", "payment", "--reason", "x", "--id", "9".repeat(23)],
  ["replay", "--service", "payment", "--id", "1"],
])("a wrong command line prints the usage: %j", async (...args) => {
  expect(await run(...args)).toEqual({
    code: 2,
    out: "",
    err: expect.stringContaining("--service NAME") as string,
  });
});

test.each([["--help"], ["replay", "--service", "payment", "--help"]])(
  "prints the help for %j",
  async (...args) => {
    expect(await run(...args)).toEqual({
      code: 0,
      out: expect.stringContaining("--service NAME") as string,
      err: "",
    });
  },
);
