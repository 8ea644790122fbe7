import { createServer } from "node:http";
import { operations } from "./document.ts";
import { listen } from "./listen.ts";

/** A service that answers every documented request with the document's own example. */
export async function documentServer(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    const path = new URL(request.url!, "http://service").pathname;
    const matching = operations.filter(
      (one) =>
        one.method === request.method && new RegExp(`^${one.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
    );
    // A literal path precedes a parameter that would match it.
    const operation = matching.sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0]!;
    response.writeHead(operation.status, { "content-type": "application/json" });
    response.end(JSON.stringify(operation.example));
  });
  return listen(server);
}
