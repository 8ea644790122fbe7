/** The service's own database, by its schema. */
export function databaseOf(schema: string): string {
  return `wonrail_${schema}`;
}

/** The same server and role, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}
