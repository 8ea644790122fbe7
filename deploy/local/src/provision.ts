import { join } from "node:path";
import type { Log } from "@wonrail/kit/log";
import { ensureDatabase, migrate, provisionSchema } from "@wonrail/kit/migrate";
import { REPOSITORY } from "./config";
import { databaseOf } from "./databases";
import { PartError } from "./parts/partError";
import type { Secrets } from "./secrets";
import { CONSOLE, SERVICES } from "./services";

export interface Provisioned {
  /** Each service's own URL, by the service's name. */
  urls: Record<string, string>;
  migrations: number;
}

/** The processes that have a database. */
const OWNERS = [
  ...SERVICES.map(({ name, schema }) => ({ name, schema, folder: `services/${name}` })),
  { ...CONSOLE, folder: "console/server" },
];

/** Creates one database for each service and for the console, with its schema, owner and login, and migrates them. */
export async function provision(
  superuserUrl: string,
  secrets: Pick<Secrets, "password">,
  log: Log,
): Promise<Provisioned> {
  const schemas = await Promise.all(
    OWNERS.map(async ({ name, schema, folder }) => {
      const { url, ownerUrl } = await provisionSchema({
        adminUrl: await ensureDatabase(superuserUrl, databaseOf(schema)),
        schema,
        rolePassword: secrets.password(`role ${schema}`),
        ownerPassword: secrets.password(`owner ${schema}`),
      });
      const report = await migrateSchema({
        url: ownerUrl,
        schema,
        dir: join(REPOSITORY, folder, "migrations"),
        log,
      });
      return { name, url, applied: report.applied.length };
    }),
  );
  return {
    urls: Object.fromEntries(schemas.map(({ name, url }) => [name, url])),
    migrations: schemas.reduce((sum, { applied }) => sum + applied, 0),
  };
}

function migrateSchema(options: Parameters<typeof migrate>[0]): ReturnType<typeof migrate> {
  return migrate(options).catch((error: Error) => {
    const next = "fix the migration, or delete this stack's data with `make reset`.";
    throw new PartError(`schema ${options.schema} could not be brought up to date`, error.message, next);
  });
}
