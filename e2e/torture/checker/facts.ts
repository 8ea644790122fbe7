import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Organisation } from "./access";
import { type PublicReads } from "./api";
import { type ChainRecord } from "./chain/readChain";
import { type Settlement } from "./chain/readSettlements";
import { type WebhookFacts } from "./events/checkDeliveries";
import { type Journal } from "./journal/readJournal";
import { type NamedIds } from "./tenants";
import { type Unfinished } from "./unfinished";
import { type Wallet } from "./wallets/walletIndex";

/**
 * Facts of a finished run: all that the checker reads besides the history. Each field is a file in
 * the folder `facts` beside the history, so a run can be checked again without its world.
 */
interface RunFacts {
  organisations: Pick<Organisation, "id" | "code">[];
  journals: Journal[];
  wallets: Wallet[];
  settlements: Settlement[];
  chain: ChainRecord;
  /** Answers of the public API, by the organisation's code. */
  reads: Record<string, PublicReads>;
  webhooks: WebhookFacts[];
  unfinished: Unfinished[];
  namedIds: NamedIds;
  observed: Observed;
}

/** Facts that only the process of the run can observe. */
export interface Observed {
  /** Use of resources by each process: one sample before the faults and one after the end. */
  samples: Sample[];
  /** Deliveries whose signature the receiver refused. */
  forgedDeliveries: string[];
  /** The output of `wonrail verify`; null when it did not run. */
  verification: string | null;
}

export interface Sample {
  process: string;
  phase: "start" | "end";
  residentBytes: number;
  fileDescriptors: number;
  databaseConnections: number;
}

/** A record, so that a forgotten field is a type error. */
const NAMES: Record<keyof RunFacts, true> = {
  ...{ organisations: true, journals: true, wallets: true, settlements: true, chain: true },
  ...{ reads: true, webhooks: true, unfinished: true, namedIds: true, observed: true },
};

export function writeFacts(historyFile: string, facts: RunFacts): void {
  mkdirSync(folderOf(historyFile), { recursive: true });
  for (const [name, value] of Object.entries(facts))
    writeFileSync(fileOf(historyFile, name), `${JSON.stringify(value)}\n`, { mode: 0o600 });
}

export function readFacts(historyFile: string): RunFacts {
  const read = (name: string) => [name, JSON.parse(readFileSync(fileOf(historyFile, name), "utf8"))];
  return Object.fromEntries(Object.keys(NAMES).map(read)) as RunFacts;
}

function folderOf(historyFile: string): string {
  return join(dirname(historyFile), "facts");
}

function fileOf(historyFile: string, name: string): string {
  return join(folderOf(historyFile), `${name}.json`);
}
