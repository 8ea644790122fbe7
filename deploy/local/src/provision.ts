import { join } from "node:path";
import { installPostgresBus } from "@wonrail/kit/bus";
import type { Log } from "@wonrail/kit/log";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { Client } from "pg";
import { REPOSITORY } from "./config";
import { PartError } from "./parts/partError";
import type { Secrets } from "./secrets";
import { SERVICES } from "./services";

const DATABASE = "wonrail";

export interface Provisioned {
  adminUrl: string;
  /** Each service's own URL, by the service's name. */
  urls: Record<string, string>;
  migrations: number;
}

/** One database; in it one schema, one owner and one login for each service; all at this release's version. */
export async function provision(superuserUrl: string, secrets: Secrets, log: Log): Promise<Provisioned> {
  const adminUrl = await ensureDatabase(superuserUrl);
  const schemas = await Promise.all(
    SERVICES.map(async ({ name, schema }) => {
      const { url, ownerUrl, role } = await provisionSchema({
        adminUrl,
        schema,
        rolePassword: secrets.password(`role ${schema}`),
        ownerPassword: secrets.password(`owner ${schema}`),
      });
      const report = await migrateSchema({
        url: ownerUrl,
        schema,
        dir: join(REPOSITORY, "services", name, "migrations"),
        log,
      });
      return { name, url, role, applied: report.applied.length };
    }),
  );
  // The bus is there also when Kafka is used today: changing one's mind is then no migration.
  await installPostgresBus(
    adminUrl,
    schemas.map(({ role }) => role),
  );
  return {
    adminUrl,
    urls: Object.fromEntries(schemas.map(({ name, url }) => [name, url])),
    migrations: schemas.reduce((sum, { applied }) => sum + applied, 0),
  };
}

function migrateSchema(options: Parameters<typeof migrate>[0]): ReturnType<typeof migrate> {
  return migrate(options).catch((error: Error) => {
    const next = "mend the migration, or forget this stack's data with `make reset`.";
    throw new PartError(`schema ${options.schema} could not be brought up to date`, error.message, next);
  });
}

async function ensureDatabase(superuserUrl: string): Promise<string> {
  const client = new Client({ connectionString: superuserUrl, application_name: "wonrail up" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE} template template0 encoding 'UTF8'`);
  } finally {
    await client.end();
  }
  const url = new URL(superuserUrl);
  url.pathname = `/${DATABASE}`;
  return url.toString();
}
