import { type RouteDeps, routes } from ".";
import { openApiDocument } from "./openapi";
import { postmanCollection } from "./postmanCollection";

/** Renders the committed document. No handler runs, so the dependencies are empty. */
export function renderOpenApi(): string {
  return render(document());
}

/** Renders the committed collection of requests. */
export function renderPostmanCollection(): string {
  return render(postmanCollection(document()));
}

function document() {
  return openApiDocument(routes({ clients: {}, principals: {} } as RouteDeps));
}

function render(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
