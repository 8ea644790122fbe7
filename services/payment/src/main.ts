import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { TOPICS } from "./events";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

/** A payout of 10,000 rows: the limit of the gateway's body and some more. */
const MAX_PAYOUT_BYTES = 6 * 1024 * 1024;

const config = readConfig();

void runService({
  name: "payment",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  feeds: [
    { topic: "wonrail.auth.v1", service: "auth", address: config.AUTH_ADDRESS },
    { topic: "wonrail.ledger.v1", service: "ledger", address: config.LEDGER_ADDRESS },
    { topic: "wonrail.relayer.v1", service: "chain-relayer", address: config.RELAYER_ADDRESS },
  ],
  config,
  maxRequestBytes: MAX_PAYOUT_BYTES,
  open: (parts) => {
    const app = createApp(parts);
    return { rpc: [...rpc(app, parts.log), adminRpc(app)], consumers: consumers(app), jobs: jobs(app) };
  },
});
