import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { TOPICS } from "./events";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

void runService({
  name: "wallet",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  config: readConfig(),
  open: (parts) => {
    const app = createApp(parts);
    return { rpc: [...rpc(app), adminRpc(app, parts.db)], consumers: consumers(app), jobs: jobs(app) };
  },
});
