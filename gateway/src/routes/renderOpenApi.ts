import { type RouteDeps, routes } from ".";
import { openApiDocument } from "./openapi";

/** The document as it is committed. Only the table's shape is looked at and no handler runs, so there is nobody behind it. */
export function renderOpenApi(): string {
  const nobody = { clients: {}, principals: {} } as RouteDeps;
  return `${JSON.stringify(openApiDocument(routes(nobody)), null, 2)}\n`;
}
