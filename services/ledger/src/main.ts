import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { TOPICS } from "./events";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

const config = readConfig();

void runService({
  name: "ledger",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  config,
  open: async (parts) => {
    const app = await createApp(parts);
    return { rpc: rpc(app), consumers: consumers(app), jobs: jobs(app, config) };
  },
});
