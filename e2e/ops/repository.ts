import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(__dirname, "../..");

export interface OpsProcess {
  /** As images, components of the chart and services of compose are called. */
  name: string;
  folder: string;
  /** Its Postgres schema; the gateway has none. */
  schema?: string;
}

/** The six processes that every way of deploying has to know. */
export const PROCESSES: readonly OpsProcess[] = [
  { name: "gateway", folder: "gateway" },
  { name: "auth", folder: "services/auth", schema: "auth" },
  { name: "wallet", folder: "services/wallet", schema: "wallet" },
  { name: "ledger", folder: "services/ledger", schema: "ledger" },
  { name: "payment", folder: "services/payment", schema: "payment" },
  { name: "chain-relayer", folder: "services/chain-relayer", schema: "chain_relayer" },
];

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The names that a process reads from its environment, from the text of its config.ts. */
export function settingsOf({ folder, schema }: OpsProcess): Set<string> {
  const names = (path: string) =>
    [...readText(path).matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1]!);
  const shared = schema === undefined ? [] : names("kit/src/service/config.ts");
  return new Set([...shared, ...names(`${folder}/src/config.ts`)]);
}

/** Whom a process calls: the addresses that it has to be told. */
export function calledBy(process: OpsProcess): string[] {
  const callee = (name: string) =>
    name === "RELAYER_ADDRESS" ? "chain-relayer" : name.slice(0, -"_ADDRESS".length).toLowerCase();
  return [...settingsOf(process)]
    .filter((name) => /^(AUTH|WALLET|LEDGER|PAYMENT|RELAYER)_ADDRESS$/.test(name))
    .map(callee)
    .sort();
}
