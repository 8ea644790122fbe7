import { type RouteDeps, routes } from ".";
import { openApiDocument } from "./openapi";

/** Renders the committed document. No handler runs, so the dependencies are empty. */
export function renderOpenApi(): string {
  const nobody = { clients: {}, principals: {} } as RouteDeps;
  return `${JSON.stringify(openApiDocument(routes(nobody)), null, 2)}\n`;
}
