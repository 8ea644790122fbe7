import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ethers } from "ethers";
import { TestChain, send } from "./support/chain";

jest.setTimeout(180_000);

let chain: TestChain;

beforeAll(async () => {
  chain = await TestChain.start();
});

afterAll(() => chain.stop());

test("a second run finds the contracts and sends no transaction", async () => {
  expect(await chain.deploy()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^deployed on chain 31337\n(.*\n){2} {2}from block \d+, which is/),
  });
  const recorded = readFileSync(chain.out, "utf8");
  expect(await chain.deploy()).toMatchObject({ code: 0, stdout: expect.stringContaining("unchanged") });
  expect(readFileSync(chain.out, "utf8")).toBe(recorded);
  expect(await chain.provider.getTransactionCount(chain.address("deployer"))).toBe(2);
});

test("the chain holds the code of the artifacts and the roles of roles.json", async () => {
  expect(await chain.verify()).toMatchObject({ code: 0, stderr: "" });
  const { contracts, accounts } = chain.deployment();
  const token = chain.contract("WonToken");
  expect(await token.getFunction("defaultAdmin")()).toBe(accounts.admin);
  expect(await token.getFunction("mintAllowance")(contracts.PaymentManager)).toBe(10n ** 18n);
  expect(await token.getFunction("mintCapPerDay")()).toBe(10n ** 17n);
  expect(await chain.contract("PaymentManager").getFunction("token")()).toBe(contracts.WonToken);
  expect(await chain.contract("PaymentManager").getFunction("defaultAdminDelay")()).toBe(60n);
});

test("verification names every role that is not in the table", async () => {
  const manager = chain.contract("PaymentManager", chain.wallet("admin"));
  const stranger = ethers.Wallet.createRandom().address;
  const role = ethers.id("OPERATOR_ROLE");
  await send(manager, "grantRole", role, stranger);
  await send(manager, "revokeRole", role, chain.address("operator"));
  const { code, stderr } = await chain.verify();
  expect(code).toBe(1);
  expect(stderr).toContain(
    `PaymentManager: operator (${chain.address("operator")}) does not hold OPERATOR_ROLE`,
  );
  expect(stderr).toContain(`PaymentManager: ${stranger} holds OPERATOR_ROLE and should not`);
  await send(manager, "grantRole", role, chain.address("operator"));
  await send(manager, "revokeRole", role, stranger);
  expect(await chain.verify()).toMatchObject({ code: 0 });
});

test("verification reports an announced change of the admin", async () => {
  const token = chain.contract("WonToken", chain.wallet("admin"));
  const stranger = ethers.Wallet.createRandom().address;
  await send(token, "beginDefaultAdminTransfer", stranger);
  await send(token, "changeDefaultAdminDelay", 86_400);
  const { code, stderr } = await chain.verify();
  expect(code).toBe(1);
  expect(stderr).toContain(`WonToken: ${stranger} is to be the admin`);
  expect(stderr).toContain("a change of the admin takes 86400 seconds");
  await send(token, "cancelDefaultAdminTransfer");
  await send(token, "rollbackDefaultAdminDelay");
  expect(await chain.verify()).toMatchObject({ code: 0 });
});

function admin(words: string[], person: "admin" | "pauser" | "blocklister", deployment = chain.out) {
  return chain.run("admin.mjs", { rpc: chain.url, deployment, "key-file": chain.keyFile(person) }, words);
}

test("a command without effect, or with the wrong target, does not report success", async () => {
  const nobody = ethers.Wallet.createRandom().address;
  expect(await admin(["revoke-operator", nobody], "admin")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("revoke-operator changed nothing"),
  });
  const { contracts, ...rest } = chain.deployment();
  const { WonToken, PaymentManager } = contracts;
  const elsewhere = `${chain.out}.elsewhere`;
  const nonce = () => chain.provider.getTransactionCount(chain.address("pauser"));
  const before = await nonce();
  for (const [wrong, problem] of [
    [{ contracts, ...rest, chainId: 1 }, "is of chain 1"],
    [{ contracts: { WonToken: nobody, PaymentManager } }, `WonToken at ${nobody}: no code`],
    [{ contracts: { WonToken: PaymentManager, PaymentManager: WonToken } }, "other code"],
  ] as const) {
    writeFileSync(elsewhere, JSON.stringify(wrong));
    const result = await admin(["pause"], "pauser", elsewhere);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
  }
  expect(await nonce()).toBe(before);
});

test("role holders do their work by command", async () => {
  const token = chain.contract("WonToken");
  const somebody = ethers.Wallet.createRandom().address;
  expect(await admin(["pause"], "pauser")).toMatchObject({ code: 0 });
  expect(await token.getFunction("paused")()).toBe(true);
  expect(await admin(["unpause"], "admin")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("AccessControlUnauthorizedAccount"),
  });
  expect(await admin(["unpause"], "pauser")).toMatchObject({ code: 0 });
  expect(await admin(["block", somebody], "blocklister")).toMatchObject({ code: 0 });
  expect(await token.getFunction("isBlocked")(somebody)).toBe(true);
  expect(await admin(["unblock", somebody], "blocklister")).toMatchObject({ code: 0 });
  for (const command of ["grant-operator", "revoke-operator"])
    expect(await admin([command, somebody], "admin")).toMatchObject({ code: 0 });
  expect(await admin(["allow-mint", "5000"], "admin")).toMatchObject({ code: 0 });
  expect(await token.getFunction("mintAllowance")(chain.deployment().contracts.PaymentManager)).toBe(
    5_000_000_000n,
  );
});

test("the admin's cap-mint sets the mint cap per day, and verify prints what is left of it", async () => {
  expect(await admin(["cap-mint", "3000"], "admin")).toMatchObject({ code: 0 });
  expect(await chain.contract("WonToken").getFunction("mintCapPerDay")()).toBe(3_000_000_000n);
  expect(await chain.verify()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("mint cap per day: 3000 won, of which 3000 are left today\n"),
  });
  expect(await admin(["cap-mint", "1"], "pauser")).toMatchObject({ code: 1 });
});

test("a missing deployment file is reported in one line", async () => {
  const nowhere = join(chain.dir, "nowhere.json");
  for (const result of [
    await admin(["pause"], "pauser", nowhere),
    await chain.run("verify.mjs", { rpc: chain.url, deployment: nowhere }),
  ])
    expect(result).toEqual({
      ...{ code: 1, stdout: "" },
      stderr: expect.stringMatching(/^The deployment's file .*nowhere\.json cannot be read: ENOENT.*\n$/),
    });
});

test("an amount that is not in whole won is refused in one line, and no transaction is sent", async () => {
  const allowance = () =>
    chain.contract("WonToken").getFunction("mintAllowance")(chain.deployment().contracts.PaymentManager);
  const before = (await allowance()) as bigint;
  for (const won of ["10,000", "1e12", "0.5", "x"])
    expect(await admin(["allow-mint", won], "admin")).toEqual({
      ...{ code: 1, stdout: "" },
      stderr: `what may be minted, in won, is not a whole number: ${won}\n`,
    });
  expect(await allowance()).toBe(before);
});

test("a command whose block is late reports its transaction, and succeeds", async () => {
  await chain.provider.send("evm_setAutomine", [false]);
  const at = ["--rpc", chain.url, "--deployment", chain.out, "--key-file", chain.keyFile("admin")];
  const child = spawn(process.execPath, [join(__dirname, "../bin/admin.mjs"), "allow-mint", "7", ...at]);
  const [said] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  expect(said).toMatch(/^allow-mint: 0x[0-9a-f]{64} is sent\n$/);
  await chain.provider.send("evm_setAutomine", [true]);
  await chain.provider.send("anvil_mine", ["0x1"]);
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("deploy refuses the same account as admin and operator, and names missing options", async () => {
  const same = await chain.deploy({ "operator-key-file": chain.keyFile("admin") });
  expect(same).toMatchObject({ code: 1, stderr: "The admin and the operator must be two accounts.\n" });
  const nobody = await chain.deploy({ admin: undefined });
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining("--admin is missing") });
  const unmined = await chain.deploy({ confirmations: "0" });
  expect(unmined).toMatchObject({ code: 1, stderr: expect.stringContaining("must be at least 1") });
  const nowhere = await chain.deploy({ rpc: "http://127.0.0.1:9" });
  expect(nowhere).toMatchObject({ code: 1, stderr: "No Ethereum node answers at http://127.0.0.1:9.\n" });
});

test("an interrupted command ends by itself, also while a node does not answer", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const at = ["--rpc", `http://127.0.0.1:${port}`, "--deployment", chain.out];
  const child = spawn(process.execPath, [join(__dirname, "../bin/verify.mjs"), ...at]);
  await once(silent, "connection");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([130, null]);
  silent.close();
});

test("refuses role holders other than the recorded ones", async () => {
  const changed = await chain.deploy({ operator: ethers.Wallet.createRandom().address });
  expect(changed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The admin changes roles"),
  });
});

test("refuses a file of another chain", async () => {
  const recorded = readFileSync(chain.out, "utf8");
  writeFileSync(chain.out, JSON.stringify({ ...chain.deployment(), chainId: 1 }));
  expect(await chain.deploy()).toMatchObject({ code: 1, stderr: expect.stringContaining("is of chain 1") });
  writeFileSync(chain.out, recorded);
});

test("refuses addresses with other code", async () => {
  const { WonToken } = chain.deployment().contracts;
  const code = await chain.provider.getCode(WonToken);
  await chain.provider.send("anvil_setCode", [WonToken, "0x6001600101"]);
  expect(await chain.deploy()).toMatchObject({ code: 1, stderr: expect.stringContaining("other code") });
  expect(await chain.verify()).toMatchObject({ code: 1, stderr: `WonToken at ${WonToken}: other code\n` });
  await chain.provider.send("anvil_setCode", [WonToken, code]);
});

test("deploy sends no second transaction while the first run is under way", async () => {
  const { deployer } = chain.deployment();
  await chain.provider.send("anvil_reset", []);
  await chain.fund();
  await chain.provider.send("evm_setAutomine", [false]);
  const begun = chain.deploy();
  const pending = () => chain.provider.getTransactionCount(deployer, "pending");
  while ((await pending()) < 2) await sleep(20);
  expect(await chain.deploy()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is in no block yet"),
  });
  expect(await pending()).toBe(2);
  await chain.provider.send("evm_setAutomine", [true]);
  await chain.provider.send("anvil_mine", ["0x1"]);
  expect(await begun).toMatchObject({ code: 0 });
});

test("resumes after an interruption without a second token", async () => {
  const before = chain.deployment();
  const block = await chain.provider.getBlock(1, true);
  const creation = block!.prefetchedTransactions.find(({ nonce }) => nonce === 0)!;
  await chain.provider.send("anvil_reset", []);
  await chain.fund();
  await (await chain.wallet("deployer").sendTransaction({ data: creation.data })).wait();
  expect(await chain.deploy()).toMatchObject({ code: 0, stderr: "" });
  expect(chain.deployment()).toEqual(before);
  expect(await chain.verify()).toMatchObject({ code: 0 });
  expect(await chain.provider.getTransactionCount(chain.address("deployer"))).toBe(2);
});

test("deploys again to the same addresses on a reset chain", async () => {
  const before = chain.deployment();
  await chain.provider.send("anvil_reset", []);
  await chain.fund();
  expect(await chain.deploy()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("deployed on chain 31337"),
  });
  expect(chain.deployment()).toEqual(before);
  expect(existsSync(`${chain.out}.new`)).toBe(false);
});
