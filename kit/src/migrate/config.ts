import { z } from "zod";
import { loadConfig, postgresUrl } from "../config";

const schema = z.object({
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  SCHEMA: z.string(),
  /** The folder with the service's migrations. */
  MIGRATIONS: z.string(),
  /** As `wonrail_<schema>_owner`, which creates and changes the tables. */
  OWNER_DATABASE_URL: postgresUrl,
  /** As `wonrail_<schema>`, the service's role. */
  DATABASE_URL: postgresUrl,
  /**
   * URL of a role that may create databases, roles and schemas. Without it they must exist. The
   * database is the one in DATABASE_URL.
   */
  ADMIN_DATABASE_URL: postgresUrl.optional(),
});

export type MigrateConfig = z.output<typeof schema>;

export function readConfig(): MigrateConfig {
  return loadConfig(schema, process.env);
}
