import { randomUUID } from "node:crypto";
import { CRASH_POINTS, crashAt } from "./money/crashPoints";
import { UNFINISHED_WORK, untilNone } from "./money/unfinishedWork";
import { available, type Scene, SCENES } from "./money/scenes";
import { settle } from "./money/settle";
import { type Api } from "./support/api";
import { newOrganisation } from "./support/operators";
import { reconciled } from "./support/reconciled";
import { startStack, type TestStack } from "./support/startStack";
import { verifyLedger } from "./support/verifyLedger";

// Each key has one effect and one answer when a process dies at a step of a command. Payment's
// crashes.int tests the same steps without a stack.

jest.setTimeout(600_000);

/** In each round another command goes first. */
const ROUNDS = 5;

let stack: TestStack;
let api: Api;

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
  api = (await newOrganisation(stack.stack(), "--incentive-bps", "500", "--daily-limit", "1000000000")).api;
});
afterAll(async () => {
  await stack?.stop();
});

describe("every command completes when a process dies during it", () => {
  const rounds = [...Array(ROUNDS).keys()].flatMap((round) =>
    CRASH_POINTS.map(([name, point]) => ({ name, point, round }) as const),
  );

  test.each(rounds)(
    "of SIGKILL at $point of $name: one effect for each key",
    async ({ name, point, round }) => {
      const scenes = await Promise.all(inTurn(round).map((make) => make(api)));
      const keys = scenes.map(() => randomUUID());
      const send = ({ path, body }: Scene, index: number) => settle(api, path, body, keys[index]!);
      // Events that get a number from here on belong to these commands.
      await untilNone(stack.stack(), ["events of ledger"], 60_000);
      const answers = await crashAt(stack, [name, point], () => Promise.all(scenes.map(send)));
      expect(answers.filter(({ status }) => status >= 300).map(({ body }) => body)).toEqual([]);
      const again = await Promise.all(scenes.map(send));
      expect(again.map(({ body: { data } }) => data)).toEqual(answers.map(({ body: { data } }) => data));
      const found = await Promise.all(scenes.map(({ walletId }) => available(api, walletId)));
      expect(found).toEqual(scenes.map(({ afterOnce }) => afterOnce));
    },
  );

  /** Each round another command goes first. */
  function inTurn(round: number): (typeof SCENES)[string][] {
    const all = Object.values(SCENES);
    return [...all.slice(round), ...all.slice(0, round)];
  }
});

test("no operation stays open, the ledger's invariants hold, and the books agree with the chain", async () => {
  await untilNone(stack.stack(), Object.keys(UNFINISHED_WORK) as (keyof typeof UNFINISHED_WORK)[], 120_000);
  expect(await verifyLedger(stack.stack())).toContain("0 violations");
  const { wallets, drifts } = await reconciled(stack.stack());
  expect(wallets).toBeGreaterThan(0);
  expect(drifts).toBe(0);
});
