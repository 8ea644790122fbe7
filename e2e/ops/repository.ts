import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeFlags } from "@wonrail/local/services";

/** Equal for sources and compiled files. */
export const ROOT = rootAbove(__dirname);

export interface OpsProcess {
  /** As images, components of the chart and services of compose are called. */
  name: string;
  folder: string;
  /** Its Postgres schema; the gateway has none. */
  schema?: string;
}

/** The processes that serve partners. */
export const PROCESSES: readonly OpsProcess[] = [
  { name: "gateway", folder: "gateway" },
  { name: "auth", folder: "services/auth", schema: "auth" },
  { name: "wallet", folder: "services/wallet", schema: "wallet" },
  { name: "ledger", folder: "services/ledger", schema: "ledger" },
  { name: "payment", folder: "services/payment", schema: "payment" },
  { name: "chain-relayer", folder: "services/chain-relayer", schema: "chain_relayer" },
  { name: "events", folder: "services/events", schema: "events" },
];

/** All processes of a deployment: also the operators' edge, which serves no partner. */
export const DEPLOYED: readonly OpsProcess[] = [
  ...PROCESSES,
  { name: "console", folder: "console/server", schema: "console" },
];

/** Limit of the young generation of a process's heap, as in a local start. */
export function youngFlag(name: string): string {
  return nodeFlags(name).find((flag) => flag.startsWith("--max-semi-space-size="))!;
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The pages for operators, besides the runbooks. */
export function operatePages(): string[] {
  return readdirSync(join(ROOT, "docs/operate")).map((file) => `docs/operate/${file}`);
}

/** The names that a process reads from its environment, from the text of its config.ts. */
export function settingsOf({ folder }: OpsProcess): Set<string> {
  const names = (path: string) =>
    [...readText(path).matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map((match) => match[1]!);
  const shared = folder.startsWith("services/") ? names("kit/src/service/config.ts") : [];
  return new Set([
    ...shared,
    ...names("kit/src/tls.ts"),
    ...names("kit/src/tracing.ts"),
    ...names(`${folder}/src/config.ts`),
  ]);
}

/** Services that a process calls, and whose addresses it needs. */
export function calledBy(process: OpsProcess): string[] {
  const callee = (name: string) =>
    name === "RELAYER_ADDRESS" ? "chain-relayer" : name.slice(0, -"_ADDRESS".length).toLowerCase();
  return [...settingsOf(process)]
    .filter((name) => /^(AUTH|WALLET|LEDGER|PAYMENT|RELAYER|EVENTS)_ADDRESS$/.test(name))
    .map(callee)
    .sort();
}

/** The edges that ARCHITECTURE.md draws: caller → callees. */
export function readCallTable(): Map<string, string[]> {
  const table = readText("ARCHITECTURE.md").split("| From | To | For |")[1]!.split("\n\n")[0]!;
  const calls = new Map(PROCESSES.map(({ name }) => [name, [] as string[]]));
  for (const [, from, to] of table.matchAll(/^\| ([a-z-]+) \| ([a-z -]+) \|/gm))
    if (calls.has(to!)) calls.get(from!)!.push(to!);
  for (const list of calls.values()) list.sort();
  return calls;
}

function rootAbove(folder: string): string {
  return existsSync(join(folder, "package-lock.json")) ? folder : rootAbove(dirname(folder));
}
