export { assertMigrated } from "./assertMigrated";
export { ensureDatabase } from "./ensureDatabase";
export { migrate, type MigrateOptions, type MigrationReport } from "./migrate";
export { provisionSchema, type ProvisionedSchema, type ProvisionOptions } from "./provisionSchema";
