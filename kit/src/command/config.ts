import { z } from "zod";
import { loadConfig, postgresUrl } from "../config";

const schema = z.object({ DATABASE_URL: postgresUrl });

export type CommandConfig = z.output<typeof schema>;

export function readConfig(): CommandConfig {
  return loadConfig(schema, process.env);
}
