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
  name: "chain-relayer",
  schema: "chain_relayer",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  feeds: [
    { topic: "wonrail.ledger.v1", service: "ledger", address: config.LEDGER_ADDRESS },
    { topic: "wonrail.wallet.v1", service: "wallet", address: config.WALLET_ADDRESS },
  ],
  config,
  open: async (parts, fail) => {
    const app = await createApp(parts, fail);
    return { rpc: [...rpc(app), adminRpc(app.admin)], consumers: consumers(app), jobs: jobs(app) };
  },
});
