import { createHash, randomBytes } from "node:crypto";
import { openDatabase, rawSql, sql, type Database, type Queryable } from "../db";
import { migrate, provisionSchema, type ProvisionedSchema } from "../migrate";
import { readMigrations } from "../migrate/files";
import { testLog } from "./testLog";

export interface TestDatabase {
  /**
   * URLs of the service's role, the schema's owner, and the cluster's superuser, for this test's
   * database.
   */
  url: string;
  ownerUrl: string;
  adminUrl: string;
  db: Database;
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  schema: string;
  /** The service's migrations folder; without it the database has only the kit's tables. */
  migrations?: string;
  /** A benchmark's own cluster. Default: the cluster of the test run. */
  clusterUrl?: string | undefined;
}

const PASSWORD = "test";
/**
 * Databases are created one at a time: the template is built once, and roles belong to the whole
 * cluster.
 */
const BUILD_LOCK = 7_265_746;

/**
 * Creates a test's own database, with roles and rights as in production. It copies a template that
 * is built once per state of the migrations, which takes some tens of milliseconds.
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const clusterUrl = options.clusterUrl ?? process.env.WONRAIL_TEST_POSTGRES_URL;
  if (clusterUrl === undefined)
    throw new Error("WONRAIL_TEST_POSTGRES_URL is not set: run the test through jest's int project");
  const name = `t_${options.schema}_${randomBytes(6).toString("hex")}`;
  const adminUrl = urlOf(clusterUrl, name);

  const provisioned = await onCluster(clusterUrl, async (admin) => {
    await admin.query(sql`select pg_advisory_lock(${BUILD_LOCK})`);
    const template = await ensureTemplate(admin, clusterUrl, options);
    await admin.run(rawSql(`create database ${name} template ${template}`));
    // A copy lacks the database's rights.
    return provision(adminUrl, options.schema);
  });

  const db = openTestDatabase(provisioned.url, options.schema);
  return {
    url: provisioned.url,
    ownerUrl: provisioned.ownerUrl,
    adminUrl,
    db,
    async drop() {
      await db.close();
      await onCluster(clusterUrl, (admin) =>
        admin.run(rawSql(`drop database if exists ${name} with (force)`)),
      );
    },
  };
}

/** Another pool on a test's database, as a second replica would have. */
export function openTestDatabase(
  url: string,
  schema: string,
  options: { max?: number; connectTimeoutMs?: number } = {},
): Database {
  return openDatabase({
    url,
    schema,
    applicationName: "test",
    max: options.max ?? 8,
    // Fifty concurrent callers wait for few connections, on a slow machine longer than a service
    // would.
    connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
    log: testLog(),
  });
}

async function ensureTemplate(
  admin: Queryable,
  clusterUrl: string,
  options: TestDatabaseOptions,
): Promise<string> {
  const template = `tpl_${options.schema}_${fingerprint(options)}`;
  const found = await admin.query(sql`select from pg_database where datname = ${template}`);
  if (found.length > 0) return template;
  const building = `${template}_building`;
  await admin.run(rawSql(`drop database if exists ${building} with (force)`));
  await admin.run(rawSql(`create database ${building}`));
  const { ownerUrl } = await provision(urlOf(clusterUrl, building), options.schema);
  await migrate({
    url: ownerUrl,
    schema: options.schema,
    ...(options.migrations === undefined ? {} : { dir: options.migrations }),
    log: testLog(),
  });
  await admin.run(rawSql(`alter database ${building} rename to ${template}`));
  return template;
}

function provision(adminUrl: string, schema: string): Promise<ProvisionedSchema> {
  return provisionSchema({ adminUrl, schema, rolePassword: PASSWORD, ownerPassword: PASSWORD });
}

function fingerprint({ migrations }: TestDatabaseOptions): string {
  const hash = createHash("sha256");
  for (const { set, number, checksum } of readMigrations(migrations))
    hash.update(`${set} ${number} ${checksum}\n`);
  return hash.digest("hex").slice(0, 16);
}

async function onCluster<T>(url: string, work: (admin: Queryable) => Promise<T>): Promise<T> {
  const cluster = openDatabase({
    url,
    schema: "public",
    applicationName: "test set-up",
    connectTimeoutMs: 15_000,
    statementTimeoutMs: 60_000,
    lockTimeoutMs: 60_000,
    log: testLog(),
  });
  try {
    return await cluster.dedicated(work);
  } finally {
    await cluster.close();
  }
}

function urlOf(clusterUrl: string, database: string): string {
  const url = new URL(clusterUrl);
  url.pathname = `/${database}`;
  return url.toString();
}
