import { z } from "zod";
import { loadConfig, postgresUrl } from "../config";

/** Settings of all operators' commands. */
export const commandShape = {
  /** The service's database. Default: that of a running stack in WONRAIL_HOME. */
  DATABASE_URL: postgresUrl.optional(),
  WONRAIL_HOME: z.string().optional(),
  /** The operator's name, which is stored with his actions. */
  USER: z.string().max(64).optional(),
};

const schema = z.object({ DATABASE_URL: postgresUrl });

export type CommandConfig = z.output<typeof schema>;

/** For the kit's own commands, which run in a pod. */
export function readConfig(): CommandConfig {
  return loadConfig(schema, process.env);
}
