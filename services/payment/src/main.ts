import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { TOPICS } from "./events";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

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
  open: (parts) => {
    const app = createApp(parts);
    return { rpc: [...rpc(app, parts.log), adminRpc(app)], consumers: consumers(app), jobs: jobs(app) };
  },
});
