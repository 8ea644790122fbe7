// Searches logs, rows and events for keys that the test knows, with all services at work, one of
// them killed, and a damaged seed.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Database, rawSql, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { eventually } from "@wonrail/kit/testing";
import { openCurve } from "@wonrail/wallet/keys/curve";
import { walletBranch, walletKey } from "@wonrail/wallet/keys/hierarchy";
import { fileKms } from "@wonrail/kit/kms";
import { NO_LIMIT, openBook, untilSettled } from "./support/book";
import { openTestPool, openWorld, type Service, type World } from "./support/world";

/** Only Linux shows a process's environment as a file. */
const LINUX = process.platform === "linux";
const SCHEMAS = ["wallet", "ledger", "chain_relayer"];

let world: World;
let db: Database;

beforeAll(async () => {
  world = await openWorld({ env: { LOG_LEVEL: "trace" } });
  db = openTestPool(world.adminUrl, "wallet");
  world.node.run(150);
}, 240_000);
afterAll(async () => {
  await db.close();
  await world.close();
}, 120_000);

test("logs, answers, events, rows and environments hold no seed, derived key, key-encryption key or signer key", async () => {
  const orgId = newId("org");
  const seed = randomBytes(32);
  await plant(orgId, seed);
  const book = openBook(world, orgId);
  const [payer, payee] = [await book.openWallet("payer"), await book.openWallet("payee")];
  await book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon: "9000" } });
  await untilSettled(world, 1);
  await world.walletService.kill();
  const transfer = { fromWalletId: payer.walletId, toWalletId: payee.walletId, amountWon: "4000" };
  await book.post("trf", { $case: "transfer", value: { ...transfer, dailyLimitWon: NO_LIMIT } });
  await book.post("rfd", { $case: "refund", value: { walletId: payee.walletId } });
  await world.walletService.start();
  await untilSettled(world, 3);
  await db.run(
    sql`update seeds set sealed = set_byte(sealed, 20, (get_byte(sealed, 20) + 1) % 256) where org_id = ${orgId}`,
  );
  // A seed that does not open is where an error could say too much.
  const answer: unknown = await book.openWallet("third").catch((error: unknown) => error);
  expect(answer).toMatchObject({ code: "SYS_001" });

  const readLog = () => readFileSync(world.walletService.logFile, "utf8");
  await eventually(() => expect(readLog()).toContain("call failed"), { timeoutMs: 60_000 });
  const services = { ledger: world.ledgerService, wallet: world.walletService, relayer: world.relayers[0]! };
  const places = new Map([["answer", JSON.stringify(answer, Object.getOwnPropertyNames(answer))]]);
  for (const [name, service] of Object.entries(services)) {
    places.set(`log of ${name}`, readFileSync(service.logFile, "utf8"));
    if (LINUX) places.set(`environment of ${name}`, environmentOf(service));
  }
  for (const [name, text] of await everyTable()) places.set(name, text);

  // Proves that the search covers the right places: harmless text is found there.
  expect(places.get("log of wallet")).toContain("call failed");
  if (LINUX) expect(places.get("environment of relayer")).toContain("OPERATOR_KEY_FILE");
  // The row shows the payload in hex.
  expect(places.get("ledger.outbox")).toContain(Buffer.from(payer.walletId).toString("hex"));
  const secrets = secretsOf(seed);
  for (const [place, text] of places) {
    const found = secrets.filter(({ bytes }) => encodingsOf(bytes).some((way) => text.includes(way)));
    expect([place, found.map(({ name }) => name)]).toEqual([place, []]);
  }
}, 240_000);

/** Stores a seed as the wallet service does. */
async function plant(orgId: string, seed: Buffer): Promise<void> {
  const context = { orgId, objectId: "", purpose: "seed" as const, version: 1 };
  const { keyId, bytes } = await fileKms(world.keyFiles.kek).seal(seed, context);
  await db.run(
    sql`insert into seeds (org_id, version, kek_id, sealed) values (${orgId}, 1, ${keyId}, ${bytes})`,
  );
}

function secretsOf(seed: Buffer): { name: string; bytes: Buffer }[] {
  const curve = openCurve();
  const branch = walletBranch(curve, seed);
  const { keys } = JSON.parse(readFileSync(world.keyFiles.kek, "utf8")) as { keys: Record<string, string> };
  const operator = readFileSync(world.keyFiles.operator, "utf8").trim();
  return [
    { name: "seed", bytes: seed },
    { name: "branch key", bytes: branch.key },
    { name: "chain code", bytes: branch.chainCode },
    { name: "payer's key", bytes: walletKey(curve, branch, 0) },
    { name: "payee's key", bytes: walletKey(curve, branch, 1) },
    { name: "key-encryption key", bytes: Buffer.from(keys.test!, "base64") },
    { name: "relayer's key", bytes: Buffer.from(operator.slice(2), "hex") },
  ];
}

function encodingsOf(secret: Buffer): string[] {
  const hex = secret.toString("hex");
  return [
    hex,
    hex.toUpperCase(),
    secret.toString("base64"),
    secret.toString("base64url"),
    [...secret].join(","),
    BigInt(`0x${hex}`).toString(),
  ];
}

function environmentOf(service: Service): string {
  return ["environ", "cmdline"]
    .map((file) => readFileSync(`/proc/${service.pid()}/${file}`, "utf8"))
    .join(" ");
}

/** Every row of every table that a service may write, events among them. */
async function everyTable(): Promise<[string, string][]> {
  const tables = await db.query<{ name: string }>(sql`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema = any(${SCHEMAS}::text[])`);
  expect(tables.length).toBeGreaterThan(30);
  return Promise.all(
    tables.map(async ({ name }): Promise<[string, string]> => {
      const rows = await db.query(rawSql(`select t::text as text from ${name} t`));
      return [name, JSON.stringify(rows)];
    }),
  );
}
