import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { TOPICS } from "./events";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

void runService({
  name: "chain-relayer",
  schema: "chain_relayer",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  config: readConfig(),
  open: async (parts, fail) => {
    const app = await createApp(parts, fail);
    return { rpc: rpc(app), consumers: consumers(app), jobs: jobs(app) };
  },
});
