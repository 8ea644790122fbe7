import { readText } from "../ops/repository";
import { wrapMarkdown } from "./wrapMarkdown";

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  responses: Record<string, { description: string }>;
}
interface Document {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}

/** Renders docs/reference/rest.md: every operation with its codes, from the OpenAPI document. */
export function renderRest(): string {
  const { tags, paths } = JSON.parse(readText("gateway/openapi.json")) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
  );
  const sections = tags.map(({ name, description }) => {
    const own = operations.filter((operation) => operation.tags.includes(name));
    return `## ${name}\n\n${wrapMarkdown(description)}\n\n${own.map(renderOperation).join("\n")}`;
  });
  return `<!-- Generated from gateway/openapi.json by npm run docs; do not edit. -->

# REST API

This page lists every operation and its error codes. The gateway serves the full reference with
fields, examples and a client for trying requests at <a href="/api/docs">/api/docs</a>. The document
itself is <a href="/api/openapi.json">/api/openapi.json</a> (OpenAPI 3.1).

${sections.join("\n")}`;
}

function renderOperation(operation: Operation & { method: string; path: string }): string {
  const { method, path, summary, description, responses } = operation;
  const codes = Object.values(responses).flatMap(({ description: text }) =>
    [...text.matchAll(/^`([A-Z]+_\d{3})`/gm)].map(([, code]) => code!),
  );
  const links = codes.map((code) => `[${code}](errors.md#${code.toLowerCase().replace("_", "-")})`);
  const errors = codes.length === 0 ? "" : `\n${wrapMarkdown(`Errors: ${links.join(", ")}.`)}\n`;
  return `### ${summary}

\`${method.toUpperCase()} ${path}\`

${wrapMarkdown(description ?? "")}
${errors}`;
}
