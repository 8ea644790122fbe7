import { type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@wonrail/kit/testing";
import { reportProcesses } from "@wonrail/local/commands/stack";
import { homeAt } from "@wonrail/local/home";
import { readLauncher } from "@wonrail/local/launcherFile";
import { isAlive, type KnownProcess } from "@wonrail/local/process/fingerprint";
import { type DemoOrganisation } from "@wonrail/local/stackFile";
import { booksChapter, depositChapter } from "./demo/chain";
import { until } from "./demo/demo";
import { OUTSIDE } from "./demo/money";
import { type Api, type Json, openApi } from "./support/api";
import { newOrganisation, type NewOrganisation } from "./support/operators";
import { exitOf, pidsOf, untilGone } from "./support/processes";
import { type SharedStack, useSharedStack } from "./support/sharedStack";
import { knownProcesses, launch, startStack, temporaryHome, type TestStack } from "./support/startStack";

// A home whose launcher ends in every way: no process outlives it, the next start has the data, and
// money that was on its way to the chain arrives.

jest.setTimeout(600_000);

/** Every kind of movement of one partner, which the first part asks for. */
interface Story {
  organisation: NewOrganisation;
  cast: Record<"alice" | "aliceIncentive" | "shop", Json>;
  chargeId: string;
  transferId: string;
}

const dir = temporaryHome();
const other = useSharedStack();
let stack: TestStack;
let organisations: DemoOrganisation[];
let story: Story;

beforeAll(() => {
  // The demo's chapters print their steps.
  jest.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await stack?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test("the guard ends the processes of a killed launcher, and another stack keeps running", async () => {
  stack = await startStack({ home: dir, bus: "feed" });
  story = await beginStory();
  ({ organisations } = stack.stack());
  expect(stack.stack().gatewayUrl).not.toBe(other.stack().gatewayUrl);
  const before = pidsOf(await processesOf(other));
  const processes = stack.alive();
  expect(processes.length).toBeGreaterThan(8);
  stack.launcher.kill("SIGKILL");
  await untilGone(processes);
  expect(pidsOf(await processesOf(other))).toEqual(before);
});

test("the next start has the data, and every kind of movement is confirmed with hash and block", async () => {
  stack = await startStack({ home: dir, bus: "feed" });
  expect(stack.stack().organisations).toEqual(organisations);
  await endStory(story);
});

test("a start ends processes that outlived launcher and guard, and SIGTERM ends its own", async () => {
  const leftovers = stack.alive().filter(({ name }) => name !== "guard" && name !== "launcher");
  process.kill(stack.alive().find(({ name }) => name === "guard")!.pid, "SIGKILL");
  stack.launcher.kill("SIGKILL");
  await sleep(500);
  expect(leftovers.filter(isAlive).length).toBeGreaterThan(6);

  const files = homeAt(dir);
  const launcher = launch(dir, "feed");
  let output = "";
  for (const stream of [launcher.stdout, launcher.stderr])
    stream?.on("data", (text: Buffer) => (output += text.toString()));
  await eventually(() => expect(output).toMatch(/Ended what an earlier start left running: .*auth/), {
    timeoutMs: 60_000,
  });
  await untilGone(leftovers);
  await eventually(() => expect(ownOf(launcher)).not.toEqual([]));
  await sleep(300);
  const processes = ownOf(launcher);
  launcher.kill("SIGTERM");
  expect(await exitOf(launcher)).toBe(0);
  await untilGone(processes);

  /** The launcher's processes, once it has some. */
  function ownOf({ pid }: ChildProcess): KnownProcess[] {
    const known = knownProcesses(files);
    return known.some((each) => each.pid === pid) && known.length > 2 ? known : [];
  }
});

function processesOf({ home }: SharedStack): ReturnType<TestStack["statuses"]> {
  return reportProcesses(readLauncher(home().launcherFile)!, home().stackFile);
}

async function beginStory(): Promise<Story> {
  const organisation = await newOrganisation(stack.stack(), "--incentive-bps", "100");
  const { api } = organisation;
  const wallet = (userId: string, walletType: string) => api.post("/api/wallets", { userId, walletType });
  const cast = {
    alice: await wallet("alice", "NORMAL"),
    aliceIncentive: await wallet("alice", "INCENTIVE"),
    shop: await wallet("shop", "NORMAL"),
  };
  const { alice, aliceIncentive, shop } = cast;
  const { chargeId } = await api.post("/api/wallets/charge", { walletId: alice.walletId, amount: 50_000 });
  await api.post("/api/wallets/charge", { walletId: aliceIncentive.walletId, amount: 1_000 });
  const order = { payerWalletId: alice.walletId, receiverWalletId: shop.walletId, amount: 20_000 };
  const payment = await api.post("/api/wallets/payment", order);
  expect(payment).toMatchObject({ breakdown: { incentive: 1_000, normal: 19_000 }, incentiveAccrued: 190 });
  const outside = { fromWalletId: alice.walletId, toWalletAddress: OUTSIDE, amount: 500 };
  const { transferId } = await api.post("/api/wallets/transfer", outside);
  return { organisation, cast, chargeId, transferId };
}

async function endStory({ organisation, cast, chargeId, transferId }: Story): Promise<void> {
  const api = openApi(stack.stack().gatewayUrl, organisation.apiKey);
  const part = await api.post("/api/wallets/charge/cancel", { chargeId, amount: 1_000 });
  expect(part.cancellation.settlement.status).toBe("PENDING");
  await until(
    () => api.get(`/api/wallets/transfer/${transferId}`),
    ({ status }) => status === "COMPLETED",
  );
  const world = { stack: stack.stack(), api, tag: "" };
  await depositChapter(world, cast);

  const lines = (await Promise.all(Object.values(cast).map((one) => settledLines(api, one)))).flat();
  expect(lines.map(({ type }) => type as string).sort()).toEqual(
    [
      "CHARGE",
      "CHARGE",
      "CHARGE_CANCEL",
      "INCENTIVE",
      "INCENTIVE_USE",
      "PAYMENT",
      "PAYMENT",
      "TRANSFER",
      "TRANSFER",
    ].sort(),
  );
  for (const { settlement } of lines) {
    const receipt = await receiptOf(settlement.txHash as string);
    expect(receipt).toMatchObject({ status: "0x1" });
    expect(Number(receipt!.blockNumber)).toBe(settlement.blockNumber);
  }
  const { cancellations } = await api.get(`/api/wallets/charge/${chargeId}`);
  const { settlement } = lines.find(({ type }) => type === "CHARGE_CANCEL")!;
  expect(cancellations).toMatchObject([{ cancelId: part.cancelId, settlement }]);
  await booksChapter(world, cast);
}

/** All lines of a wallet's statement, after the settlement of each. */
async function settledLines(api: Api, { walletId }: Json): Promise<Json[]> {
  const { items } = await until(
    () => api.get(`/api/wallets/${walletId}/transactions`),
    (page) => (page.items as Json[]).every(({ settlement }) => settlement.status === "CONFIRMED"),
  );
  return items as Json[];
}

async function receiptOf(hash: string): Promise<{ status: string; blockNumber: string } | null> {
  const body = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [hash] };
  const headers = { "content-type": "application/json" };
  const response = await fetch(stack.stack().chain.rpcUrl, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { result: { status: string; blockNumber: string } | null }).result;
}
