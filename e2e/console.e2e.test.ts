import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@wonrail/kit/testing";
import { type Browser, type Page } from "playwright-core";
import { damageHoldAddress } from "./console/damageEntry";
import { hasPrometheus, startObserving } from "./console/observe";
import { signInAtProvider, startOidcConsole } from "./console/oidcConsole";
import {
  act,
  atHome,
  expectOutcome,
  findBarriers,
  launchBrowser,
  openPage,
  signIn,
  type SignedIn,
} from "./console/operatorBrowser";
import { startReceiver } from "./money/receiver";
import { ROOT } from "./ops/repository";
import { findBrowser } from "./support/browser";
import { charged, wallet } from "./support/chargedWallet";
import { newOrganisation, type NewOrganisation } from "./support/operators";
import { reportSkipped } from "./support/reportSkipped";
import { startStack, type TestStack } from "./support/startStack";

// Two operators of a bank work with the console in a browser.
jest.setTimeout(900_000);

const PATIENCE_MS = 60_000;
/** ProcessDown fires after a minute. */
const ALERT_MS = 150_000;
const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const ACTIONS = /^(Pause|Resume|End operation)$/;
const SCRIPT = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const hasBrowser = findBrowser() !== undefined;
if (!hasBrowser)
  reportSkipped("the console is not opened, no browser is installed (Debian: apt-get install chromium)");
const withBrowser = hasBrowser ? describe : describe.skip;
if (!hasPrometheus)
  reportSkipped("Home shows no alert, prometheus is absent (Debian: apt-get install prometheus)");
const withPrometheus = hasPrometheus ? test : test.skip;

withBrowser("an operator with the console", () => {
  let stack: TestStack;
  let browser: Browser;
  let kim: SignedIn;
  let lee: SignedIn;
  let bank: NewOrganisation;
  let paymentId: string;
  let payerId: string;

  beforeAll(async () => {
    stack = await startStack({ bus: "feed" });
    bank = await newOrganisation(stack.stack(), "--name", SCRIPT);
    ({ payerId, paymentId } = await pay(bank, SCRIPT));
    browser = await launchBrowser();
    const home = stack.home.dir;
    const roles = ["treasury", "compliance", "support"];
    kim = await signIn(browser, { home, operator: "kim", roles });
    lee = await signIn(browser, { home, operator: "lee", roles });
    for (const { page } of [kim, lee]) page.setDefaultTimeout(PATIENCE_MS);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });
  afterEach(() => {
    expect([...kim.complaints, ...lee.complaints]).toEqual([]);
  });

  test("finds a payment by its id and follows it to its block", async () => {
    const { page } = kim;
    await page.keyboard.press("/");
    await page.keyboard.type(paymentId);
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Search results" }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: paymentId }).waitFor();
    await page.getByText(/^Final in block \d+$/).waitFor();
    for (const title of ["Entry posted: payment", "Custody signed", "Event payment.created"])
      await page.getByText(title).first().waitFor();
  });

  test("sees a partner's markup as text", async () => {
    const { page } = kim;
    await page.goto(addressOf(`/operations/${paymentId}`));
    await page.getByText(SCRIPT).first().waitFor();
    await page.getByText(`note: ${SCRIPT}`).waitFor();
    await page.goto(addressOf(`/organisations/${bank.orgCode}`));
    await page.getByRole("heading", { level: 1 }).getByText(SCRIPT).waitFor();
    expect(await page.title()).toBe("Wonrail console");
  });

  test("learns that a paused queue holds a payment, and resumes it only with a second operator", async () => {
    const { page } = kim;
    await pause(page, bank, "incident 7");
    const { paymentId: held } = await pay(bank, "while paused");
    await page.goto(addressOf(`/operations/${held}`));
    await page.getByText(/The relayer has not read this entry yet\..*paused: incident 7/).waitFor();
    await propose(page, bank, "incident 7 is over");
    await queueOf(page, bank)
      .getByText(/incident 7/)
      .waitFor();

    await decide(page, { reason: "incident 7 is over", by: "my own proposal" });
    await page
      .getByRole("dialog")
      .getByText(/operator\.name/)
      .waitFor();

    await decide(lee.page, { reason: "incident 7 is over", by: "seen with kim" });
    await expectOutcome(lee.page, "Done.");
    await page.goto(addressOf("/settlement"));
    await queueOf(page, bank).getByRole("button", { name: "Pause" }).waitFor();
    await page.goto(addressOf(`/operations/${held}`));
    await page.getByText(/^Final in block \d+$/).waitFor();
  });

  withPrometheus("sees the error budget on Home, and an alert that fires with a link", async () => {
    const { page } = kim;
    await page.goto(addressOf("/"));
    await page.getByText(/Prometheus at .* does not answer .* make observe/).waitFor();
    const prometheus = startObserving(stack.home);
    try {
      await stack.act("stop", "chain-relayer");
      const alert = page.getByRole("link", { name: /^critical: chain-relayer on .* does not answer$/ });
      await alert.waitFor({ timeout: ALERT_MS });
      await pay(bank);
      await page.getByText(/% of requests failed in 30 days/).waitFor({ timeout: ALERT_MS });
      await alert.click();
      await page.getByRole("heading", { level: 1, name: "System" }).waitFor();
    } finally {
      await stack.act("start", "chain-relayer");
      await prometheus.close();
    }
    await stack.untilReady();
  });

  test("ends a BLOCKED operation with a second operator, and the transfer settles", async () => {
    const { page } = kim;
    // The relayer reads the entry after the damage.
    await stack.act("stop", "chain-relayer");
    const transferId = await transferOutside(bank);
    const repair = await damageHoldAddress(stack.stack(), OUTSIDE);
    await stack.act("start", "chain-relayer");
    await page.goto(addressOf("/"));
    await page.getByRole("link", { name: /^1 operation BLOCKED/ }).click();
    const open = page.getByRole("table", { name: "Open operations", exact: true });
    await open
      .getByRole("row", { name: new RegExp(transferId) })
      .getByText("BLOCKED")
      .waitFor();
    await open.getByRole("link", { name: transferId }).click();
    await page
      .getByText(/^unreadable: the relayer cannot read/)
      .first()
      .waitFor();

    await repair();
    await page.getByRole("button", { name: "End operation" }).click();
    const choice = { field: "Way", option: "Read again: an update of the relayer can read the entry" };
    await act(page, { label: "End operation", reason: "journal repaired", choice });
    await expectOutcome(page, "Proposed.");
    await decide(page, { reason: "journal repaired", by: "my own proposal" });
    await page
      .getByRole("dialog")
      .getByText(/operator\.name/)
      .waitFor();
    await decide(lee.page, { reason: "journal repaired", by: "compared with the backup" });
    await expectOutcome(lee.page, "Done.");
    await page.goto(addressOf(`/operations/${transferId}`));
    await page.getByText(/^Final in block \d+$/).waitFor();
  });

  test("sees a webhook's answer as text, and sends a range of its events again", async () => {
    const { page } = kim;
    const receiver = await startReceiver(SCRIPT);
    try {
      await bank.api.post("/api/webhooks", { url: receiver.url });
      const paid = await pay(bank);
      const isWanted = ({ body }: { body: string }) =>
        body.includes(paid.paymentId) && body.includes('"payment.created"');
      await receiver.until(isWanted);
      await page.goto(addressOf(`/organisations/${bank.orgCode}`));
      const row = page.getByRole("table", { name: "Webhooks" }).getByRole("row", { name: receiver.url });
      const { items } = await bank.api.get(`/api/events?objectId=${paid.paymentId}&types=payment.created`);
      const { sequence } = items[0];
      await row.getByRole("button", { name: "Deliveries" }).click();
      const deliveries = page.getByRole("dialog").getByRole("table", { name: "Deliveries" });
      const delivery = deliveries.getByRole("row", { name: new RegExp(`^${sequence} payment\\.created`) });
      await delivery.getByText(SCRIPT).waitFor();
      expect(await page.title()).toBe("Wonrail console");
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: "Close" }).click();
      await dialog.waitFor({ state: "hidden" });
      await row.getByRole("button", { name: "Replay range" }).click();
      for (const end of ["First event", "Last event"]) await dialog.getByLabel(end).fill(String(sequence));
      await act(page, { label: "Replay range", reason: "the bank lost it" });
      await dialog.getByText("1 delivery will be sent.").waitFor();
      await expectOutcome(page, "Done.");
      await eventually(() => expect(receiver.deliveries.filter(isWanted)).toHaveLength(2), {
        timeoutMs: PATIENCE_MS,
      });
    } finally {
      await receiver.close();
    }
  });

  test("freezes a wallet at once, and unfreezes it only with a second operator", async () => {
    const { page } = kim;
    await page.goto(addressOf(`/wallets/${payerId}`));
    await page.getByRole("button", { name: "Freeze wallet" }).click();
    const choice = { field: "Freeze", option: "Outgoing movements" };
    await act(page, { label: "Freeze wallet", reason: "court order 12", choice });
    await expectOutcome(page, "Done.");
    expect(await codeOfPayment()).toBe("WAL_005");
    await page.getByRole("button", { name: "Unfreeze wallet" }).click();
    await act(page, { label: "Unfreeze wallet", reason: "order 12 was lifted" });
    await expectOutcome(page, "Proposed.");
    expect(await codeOfPayment()).toBe("WAL_005");
    await decide(lee.page, { reason: "order 12 was lifted", by: "seen the letter" });
    await expectOutcome(lee.page, "Done.");
    await eventually(async () => expect(await codeOfPayment()).toBeUndefined());
  });

  test("proves from the audit trail who did what", async () => {
    const { page } = kim;
    await page.goto(addressOf("/audit"));
    await page.getByRole("button", { name: "Verify all hash chains" }).click();
    await page.getByText("All hash chains are sound.").waitFor();
    await page.getByRole("row", { name: /kim .*Pause queue .*incident 7 / }).waitFor();
  });

  test("sees no action without its role", async () => {
    const viewer = await signIn(browser, { home: stack.home.dir, operator: "vic", roles: ["viewer"] });
    await viewer.page.goto(addressOf("/settlement"));
    await queueOf(viewer.page, bank).waitFor();
    expect(await viewer.page.getByRole("button", { name: ACTIONS }).count()).toBe(0);
    await viewer.page.goto(addressOf("/audit"));
    await viewer.page.getByText("You need the role compliance to see this.").first().waitFor();
    expect(viewer.complaints).toEqual([]);
  });

  test("signs in by the identity provider with the roles of the claims, and out again", async () => {
    const oidc = await startOidcConsole(stack);
    try {
      for (const [login, role] of [
        ["vic", "viewer"],
        ["tora", "treasury"],
      ] as const)
        oidc.provider.accounts.set(login, { email: `${login}@bank.example`, roles: [role] });
      const { page, complaints } = await openPage(browser);
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${oidc.url}/settlement`);
      await signInAtProvider(page, "vic");
      await page.getByText("vic@bank.example (viewer)").waitFor();
      await queueOf(page, bank).waitFor();
      expect(await page.getByRole("button", { name: ACTIONS }).count()).toBe(0);

      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Yes, sign me out" }).click();
      await signInAtProvider(page, "tora");
      await atHome(page);
      await page.getByText("tora@bank.example (treasury)").waitFor();
      await page.goto(`${oidc.url}/settlement`);
      await queueOf(page, bank).getByRole("button", { name: "Pause" }).waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await oidc.close();
    }
  });

  test("meets no serious barrier on any screen, in both widths and colour schemes", async () => {
    const barriers: string[] = [];
    mkdirSync(join(ROOT, ".cache"), { recursive: true });
    for (const [name, path] of screens()) {
      for (const [width, height] of [
        [1280, 900],
        [390, 844],
      ] as const) {
        for (const colorScheme of ["light", "dark"] as const) {
          await kim.page.setViewportSize({ width, height });
          await kim.page.emulateMedia({ colorScheme });
          await kim.page.goto(addressOf(path));
          await untilDrawn(kim.page);
          const found = await findBarriers(kim.page);
          barriers.push(...found.map((barrier) => `${name} ${width} ${colorScheme}: ${barrier}`));
          if (await overflows(kim.page)) barriers.push(`${name} ${width}: the page scrolls sideways`);
          const file = `.cache/console-${name}-${width}-${colorScheme}.png`;
          await kim.page.screenshot({ path: join(ROOT, file), fullPage: true });
        }
      }
    }
    expect(barriers).toEqual([]);
  });

  function screens(): [string, string][] {
    return [
      ["home", "/"],
      ["search", `/search?q=${payerId}`],
      ["operation", `/operations/${paymentId}`],
      ["organisations", "/organisations"],
      ["organisation", `/organisations/${bank.orgCode}`],
      ["wallet", `/wallets/${payerId}`],
      ["settlement", "/settlement"],
      ["reconciliation", "/reconciliation"],
      ["deadLetters", "/dead-letters"],
      ["approvals", "/approvals"],
      ["audit", "/audit"],
      ["system", "/system"],
    ];
  }

  function addressOf(path: string): string {
    return new URL(path, stack.stack().consoleUrl).href;
  }

  function queueOf(page: Page, { orgId }: NewOrganisation) {
    return page.getByRole("table", { name: "Queues" }).getByRole("row", { name: new RegExp(orgId) });
  }

  async function pause(page: Page, organisation: NewOrganisation, reason: string): Promise<void> {
    await page.goto(addressOf("/settlement"));
    await queueOf(page, organisation).getByRole("button", { name: "Pause" }).click();
    await act(page, { label: "Pause", reason });
    await expectOutcome(page, "Done.");
    await queueOf(page, organisation).getByText(new RegExp(reason)).waitFor();
  }

  async function propose(page: Page, organisation: NewOrganisation, reason: string): Promise<void> {
    await page.goto(addressOf("/settlement"));
    await queueOf(page, organisation).getByRole("button", { name: "Resume" }).click();
    await act(page, { label: "Resume", reason });
    await expectOutcome(page, "Proposed.");
  }

  async function decide(page: Page, { reason, by }: { reason: string; by: string }): Promise<void> {
    await page.goto(addressOf("/approvals"));
    await page
      .getByRole("row", { name: new RegExp(reason) })
      .getByRole("button", { name: "Approve" })
      .click();
    await act(page, { label: "Approve", reason: by });
  }

  async function codeOfPayment(): Promise<string | undefined> {
    const receiver = await wallet(bank.api);
    const order = { payerWalletId: payerId, receiverWalletId: receiver.walletId, amount: 100 };
    const { body } = await bank.api.call("POST", "/api/wallets/payment", order);
    return body.error?.code;
  }
});

async function pay(
  { api }: NewOrganisation,
  memo = "lunch",
): Promise<{ payerId: string; paymentId: string }> {
  const [payer, receiver] = [await charged(api, 100_000), await wallet(api)];
  const parties = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const order = { ...parties, amount: 5_000, memo, metadata: { note: memo } };
  const { paymentId } = await api.post("/api/wallets/payment", order);
  return { payerId: payer.walletId as string, paymentId: paymentId as string };
}

/** A transfer to an address that is no wallet's. */
async function transferOutside({ api }: NewOrganisation): Promise<string> {
  const payer = await charged(api, 100_000);
  const order = { fromWalletId: payer.walletId, toWalletAddress: OUTSIDE, amount: 4_000 };
  const { transferId } = await api.post("/api/wallets/transfer", order);
  return transferId as string;
}

async function untilDrawn(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  // The page's policy forbids waitForFunction, which makes code from text in the page.
  await eventually(async () => expect(await page.getByText(/^Loading /).count()).toBe(0));
}

/** A table may scroll inside its frame, the page itself may not. */
function overflows(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth + 1",
  );
}
