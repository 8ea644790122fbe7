import { z } from "zod";
import { loadConfig, postgresUrl } from "../config";

/** What operators' commands read, all of them. */
export const commandShape = {
  /** The service's. Without it they look for a running stack in WONRAIL_HOME. */
  DATABASE_URL: postgresUrl.optional(),
  WONRAIL_HOME: z.string().optional(),
  /** Who the operator is: kept with what he does. */
  USER: z.string().max(64).optional(),
};

const schema = z.object({ DATABASE_URL: postgresUrl });

export type CommandConfig = z.output<typeof schema>;

/** Of the kit's own, which are run in a pod. */
export function readConfig(): CommandConfig {
  return loadConfig(schema, process.env);
}
