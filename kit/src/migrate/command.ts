import { installPostgresBus } from "../bus";
import { untilReachable } from "../db";
import { assert } from "../contract/errors";
import { createLog, type Log } from "../log";
import { type MigrateConfig, readConfig } from "./config";
import { migrate } from "./migrate";
import { provisionSchema } from "./provisionSchema";

/** What an image runs before its service: brings one schema to this release's version. May run again and again, and twice at once. */
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
  const { role, owner: ownerRole } = await provisionSchema({
    adminUrl,
    schema: config.SCHEMA,
    rolePassword: decodeURIComponent(service.password),
    ownerPassword: decodeURIComponent(owner.password),
  });
  assert(service.username === role, `DATABASE_URL has to be for ${role}`);
  assert(owner.username === ownerRole, `OWNER_DATABASE_URL has to be for ${ownerRole}`);
  // The bus is there also when Kafka is used: changing one's mind is then no migration.
  await installPostgresBus(adminUrl, [role]);
  log.info({ schema: config.SCHEMA, role }, "the schema and its roles are there");
}
