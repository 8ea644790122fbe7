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
  name: "auth",
  migrations: join(__dirname, "..", "migrations"),
  topics: TOPICS,
  config: readConfig(),
  open: async (parts) => {
    const app = await createApp(parts);
    return {
      rpc: [...rpc(app), adminRpc(app, parts.db)],
      consumers: consumers(app),
      jobs: jobs(app),
      endStreams: app.endWatches,
    };
  },
});
