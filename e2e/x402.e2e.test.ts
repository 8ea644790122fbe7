import { execFile, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Wallet } from "ethers";
import { eventually } from "@wonrail/kit/testing";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { readText, ROOT } from "./ops/repository";
import { type Api, type Json } from "./support/api";
import { newOrganisation, type NewOrganisation } from "./support/operators";
import { reportSkipped } from "./support/reportSkipped";
import { useSharedStack } from "./support/sharedStack";
import { buy, type Purchase } from "./x402/buyer";
import { findPythonBuyer } from "./x402/pythonBuyer";
import { type Shop, startShop } from "./x402/shop";

// Unchanged libraries of others buy from a shop whose facilitator is a running stack.

jest.setTimeout(300_000);

const PRICE = 250;

const python = findPythonBuyer();
if (typeof python === "string") reportSkipped(`nothing is bought with Python's x402, ${python}`);
const withPython = typeof python === "string" ? test.skip : test;

const stack = useSharedStack();
let organisation: NewOrganisation;
let api: Api;
let wallet: Json;
let shop: Shop;

beforeAll(async () => {
  organisation = await newOrganisation(stack.stack());
  ({ api } = organisation);
  wallet = await api.post("/api/wallets", { userId: "shop", walletType: "NORMAL" });
  shop = await startShop({
    ...{ gatewayUrl: stack.stack().gatewayUrl, apiKey: organisation.apiKey },
    ...{ payTo: wallet.walletAddress, price: PRICE },
  });
});
afterAll(() => shop?.close());

test("npm's @x402/fetch buys from @x402/express, and the wallet is credited with an event", async () => {
  await buysOnce((key) => buy(shop, key));
});

withPython("PyPI's x402 buys from @x402/express, and the wallet is credited with an event", async () => {
  if (typeof python !== "string") await buysOnce((key) => python(shop, key));
});

test("the guide's shop sells to the guide's buyer", async () => {
  const folder = join(ROOT, ".cache/x402Guide");
  const [shopFile, buyFile] = ["shop.mjs", "buy.mjs"].map((name) => join(folder, name)) as [string, string];
  const blocks = [...readText("docs/guides/x402.md").matchAll(/^```js\n([\s\S]*?)^```$/gm)];
  mkdirSync(folder, { recursive: true });
  [shopFile, buyFile].forEach((file, index) => writeFileSync(file, blocks[index]![1]!));
  const buyer = await openBuyer();
  const PORT = String(await randomFreePort());
  const env = {
    ...{ ...process.env, PORT, URL: stack.stack().gatewayUrl, KEY: organisation.apiKey },
    ...{ WALLET_ADDRESS: wallet.walletAddress as string, PAYER_KEY: buyer.privateKey },
    ...{ NETWORK: shop.network, ASSET: shop.asset },
  };
  const selling = spawn(process.execPath, [shopFile], { env, stdio: "inherit" });
  try {
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${PORT}/report`)).status).toBe(402));
    const { stdout } = await promisify(execFile)(process.execPath, [buyFile], { env, timeout: 120_000 });
    expect(stdout).toBe("200 { report: 'sunny' }\n");
  } finally {
    selling.kill();
    rmSync(folder, { recursive: true });
  }
});

test("a buyer without money gets 402 and pays nothing", async () => {
  const { status, payment } = await buy(shop, Wallet.createRandom().privateKey);
  expect({ status, payment }).toEqual({ status: 402, payment: null });
});

test("a shop of another organisation cannot collect for this wallet", async () => {
  const other = await newOrganisation(stack.stack());
  const site = await startShop({
    ...{ gatewayUrl: stack.stack().gatewayUrl, apiKey: other.apiKey },
    ...{ payTo: wallet.walletAddress, price: PRICE },
  });
  try {
    const buyer = await openBuyer();
    expect((await buy(site, buyer.privateKey)).status).toBe(402);
  } finally {
    await site.close();
  }
});

async function buysOnce(purchase: (key: string) => Promise<Purchase>): Promise<void> {
  const buyer = await openBuyer();
  const before = (await api.get(`/api/wallets/${wallet.walletId}`)).balance as number;
  const { status, body, payment } = await purchase(buyer.privateKey);
  expect({ status, body }).toEqual({ status: 200, body: { report: "sunny" } });
  expect(payment).toMatchObject({ success: true, network: shop.network, payer: buyer.address });
  await eventually(
    async () => {
      const { items } = await api.get("/api/events?types=deposit.credited&order=desc");
      const credited = items.filter(({ data }: Json) => data.settlement.txHash === payment!.transaction);
      expect(credited).toHaveLength(1);
      expect(credited[0].data).toMatchObject({ amount: PRICE });
    },
    { timeoutMs: 60_000 },
  );
  expect((await api.get(`/api/wallets/${wallet.walletId}`)).balance).toBe(before + PRICE);
}

/** A key outside with tokens for one purchase, which a wallet paid out. */
async function openBuyer(): Promise<{ address: string; privateKey: string }> {
  const buyer = Wallet.createRandom();
  const bank = await api.post("/api/wallets", { userId: `bank-${buyer.address}`, walletType: "NORMAL" });
  await api.post("/api/wallets/charge", { walletId: bank.walletId, amount: 1_000 });
  const transfer = { fromWalletId: bank.walletId, toWalletAddress: buyer.address, amount: PRICE };
  const { transferId } = await api.post("/api/wallets/transfer", transfer);
  await eventually(
    async () => expect((await api.get(`/api/wallets/transfer/${transferId}`)).status).toBe("COMPLETED"),
    { timeoutMs: 60_000 },
  );
  return buyer;
}
