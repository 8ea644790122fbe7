/** The services with a schema of their own, by the names of `postgres.urls` in stack.json. */
export type Schema = "auth" | "wallet" | "ledger" | "payment" | "chain-relayer" | "events";

/** Addresses and logins with which the facts of a world are read. */
export interface WorldAccess {
  gatewayUrls: string[];
  organisations: Organisation[];
  /** A login of each service's database that may read its schema. */
  databaseUrls: Record<Schema, string>;
  chain: {
    rpcUrl: string;
    tokenAddress: string;
    paymentManagerAddress: string;
  };
}

export interface Organisation {
  /** `org_` and 32 hex digits, as in the database. */
  id: string;
  /** The code by which the history names it. */
  code: string;
  apiKey: string;
}
