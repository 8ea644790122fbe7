import { z } from "zod";
import { loadConfig, postgresUrl } from "../config";

const schema = z.object({ DATABASE_URL: postgresUrl });

export type DeadLettersConfig = z.output<typeof schema>;

export function readConfig(): DeadLettersConfig {
  return loadConfig(schema, process.env);
}
