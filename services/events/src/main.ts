import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

const config = readConfig();

void runService({
  name: "events",
  migrations: join(__dirname, "..", "migrations"),
  topics: [],
  feeds: [
    { topic: "wonrail.auth.v1", service: "auth", address: config.AUTH_ADDRESS },
    { topic: "wonrail.wallet.v1", service: "wallet", address: config.WALLET_ADDRESS },
    { topic: "wonrail.ledger.v1", service: "ledger", address: config.LEDGER_ADDRESS },
    { topic: "wonrail.payment.v1", service: "payment", address: config.PAYMENT_ADDRESS },
    { topic: "wonrail.relayer.v1", service: "chain-relayer", address: config.RELAYER_ADDRESS },
  ],
  config,
  open: async (parts) => {
    const app = await createApp(parts);
    return {
      rpc: [...rpc(app), adminRpc(parts)],
      consumers: consumers(app),
      jobs: jobs(app),
      endStreams: () => app.endWaits(),
    };
  },
});
