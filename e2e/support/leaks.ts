import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Database, rawSql, sql } from "@wonrail/kit/db";
import { SERVICES } from "@wonrail/local/services";
import { asAdmin } from "./asAdmin";
import { type TestStack } from "./startStack";

/** Finds secrets in logs and rows; the outbox has the events. Looks for the text and its bytes. */
export async function leaksOf(stack: TestStack, secrets: Record<string, string>): Promise<string[]> {
  const places = [...logsOf(stack), ...(await everyTable(stack))];
  return places.flatMap(([place, text]) =>
    Object.entries(secrets)
      .filter(([, secret]) => encodingsOf(secret).some((way) => text.includes(way)))
      .map(([name]) => `${name} in ${place}`),
  );
}

/** The passwords of the stack's roles, its keys and its words. */
export function secretsOf({ home, stack }: TestStack): Record<string, string> {
  const { postgres, organisations } = stack();
  const passwords = Object.entries(postgres.urls).map(([role, url]) => [role, new URL(url).password]);
  const files = readdirSync(home.secretsDir, { withFileTypes: true })
    .filter((file) => file.isFile() && !PUBLIC.includes(file.name))
    .map(({ name }) => [name, keyIn(readFileSync(join(home.secretsDir, name), "utf8").trim())]);
  const keys = organisations.flatMap(({ name, apiKey, secretKey }) => [
    [`API key of ${name}`, apiKey],
    [`secret key of ${name}`, secretKey],
  ]);
  return Object.fromEntries([...passwords, ...files, ...keys]) as Record<string, string>;
}

/** The key-encryption key is in a JSON file; other keys are files of their own. */
function keyIn(text: string): string {
  return text.startsWith("{") ? (JSON.parse(text) as { keys: { local: string } }).keys.local : text;
}

const PUBLIC = ["deployer.key", "contracts.json"];

function encodingsOf(secret: string): string[] {
  const bare = secret.replace(/^0x/, "");
  return [bare, encodeURIComponent(bare), Buffer.from(bare).toString("hex")];
}

function logsOf({ home }: TestStack): [string, string][] {
  const files = readdirSync(home.logsDir);
  return files.map((file) => [file, readFileSync(join(home.logsDir, file), "utf8")]);
}

async function everyTable(stack: TestStack): Promise<[string, string][]> {
  const read = SERVICES.map(({ schema }) => asAdmin(stack.stack(), schema, tablesOf));
  return (await Promise.all(read)).flat();
}

async function tablesOf(db: Database): Promise<[string, string][]> {
  const tables = await db.query<{ name: string }>(sql`
    select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`);
  const texts: [string, string][] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ text: string }>(rawSql(`select t::text as text from ${name} t`));
    texts.push([name, rows.map(({ text }) => text).join("\n")]);
  }
  return texts;
}
