import { untilReachable } from "../db";
import { assert } from "../contract/errors";
import { createLog, type Log } from "../log";
import { type MigrateConfig, readConfig } from "./config";
import { ensureDatabase } from "./ensureDatabase";
import { migrate } from "./migrate";
import { provisionSchema } from "./provisionSchema";

/**
 * Images run this before their service: migrates one schema. Repeated and concurrent runs are safe.
 */
export async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog({ service: "migrate", level: config.LOG_LEVEL });
  try {
    await untilReachable(() => prepareSchema(config, log), log);
  } catch (error) {
    log.fatal({ err: error, schema: config.SCHEMA }, "the schema could not be brought up to date");
    process.exitCode = 1;
  }
}

export async function prepareSchema(config: MigrateConfig, log: Log): Promise<void> {
  if (config.ADMIN_DATABASE_URL !== undefined) await provision(config, config.ADMIN_DATABASE_URL, log);
  const { applied, known } = await migrate({
    url: config.OWNER_DATABASE_URL,
    schema: config.SCHEMA,
    dir: config.MIGRATIONS,
    log,
  });
  log.info({ schema: config.SCHEMA, applied: applied.length, known }, "the schema is up to date");
}

async function provision(config: MigrateConfig, adminUrl: string, log: Log): Promise<void> {
  const [service, owner] = [new URL(config.DATABASE_URL), new URL(config.OWNER_DATABASE_URL)];
  assert(service.pathname === owner.pathname, "both URLs have to name the service's own database");
  const { role, owner: ownerRole } = await provisionSchema({
    adminUrl: await ensureDatabase(adminUrl, decodeURIComponent(service.pathname.slice(1))),
    schema: config.SCHEMA,
    rolePassword: decodeURIComponent(service.password),
    ownerPassword: decodeURIComponent(owner.password),
  });
  assert(service.username === role, `DATABASE_URL has to be for ${role}`);
  assert(owner.username === ownerRole, `OWNER_DATABASE_URL has to be for ${ownerRole}`);
  log.info({ schema: config.SCHEMA, role }, "the schema and its roles exist");
}
