import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The services with a schema of their own, by the names of `postgres.urls` in stack.json. */
export type Schema = "auth" | "wallet" | "ledger" | "payment" | "chain-relayer" | "events";

/** Where a run's world can be read. The runner writes it as `run.json` beside the history. */
export interface RunFacts {
  gatewayUrls: string[];
  organisations: Organisation[];
  /** A login of each service's database that may read its schema. */
  databaseUrls: Record<Schema, string>;
  chain: {
    rpcUrl: string;
    chainId: number;
    tokenAddress: string;
    paymentManagerAddress: string;
  };
  webhooks: Webhook[];
  /** Use of resources by each process: at least one sample before the faults and one after the end. */
  samples?: Sample[];
}

export interface Organisation {
  /** `org_` and 32 hex digits, as in the database. */
  id: string;
  /** The code by which the history names it. */
  code: string;
  apiKey: string;
}

export interface Webhook {
  /** The organisation's code. */
  organisation: string;
  webhookId: string;
  /** Empty: all types. */
  eventTypes: string[];
  ordering: "NONE" | "OBJECT";
}

export interface Sample {
  process: string;
  phase: "start" | "end";
  residentBytes: number;
  fileDescriptors: number;
  databaseConnections: number;
}

export function readFacts(historyFile: string): RunFacts {
  return JSON.parse(readFileSync(join(dirname(historyFile), "run.json"), "utf8")) as RunFacts;
}
