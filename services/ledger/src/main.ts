import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { TOPICS } from "./events";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

/** 10,000 requests of PostTogether with the notes that the limit of the gateway's body allows. */
const MAX_TOGETHER_BYTES = 12 * 1024 * 1024;

const config = readConfig();

void runService({
  name: "ledger",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  config,
  maxRequestBytes: MAX_TOGETHER_BYTES,
  open: async (parts) => {
    const app = await createApp(parts);
    return {
      rpc: [...rpc(app), adminRpc(app, parts.db)],
      consumers: consumers(app),
      jobs: jobs(app, config),
    };
  },
});
