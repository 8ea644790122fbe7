import { join } from "node:path";
import { runService } from "@wonrail/kit/service";
import { createApp } from "./app";
import { readConfig } from "./config";
import { consumers } from "./consumers";
import { jobs } from "./jobs";
import { rpc } from "./rpc";

void runService({
  name: "payment",
  migrations: join(__dirname, "..", "migrations"),
  topics: [],
  config: readConfig(),
  open: (parts) => {
    const app = createApp(parts);
    return { rpc: rpc(app, parts.log), consumers: consumers(app), jobs: jobs(app) };
  },
});
