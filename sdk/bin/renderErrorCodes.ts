import { type ErrorRow, errorTable } from "@wonrail/kit/contract/errors";

/** Renders src/core/errorCodes.ts from the server's table, because the package has no dependency on the kit. */
export function renderErrorCodes(): string {
  const rows = Object.entries<ErrorRow>(errorTable).map(([code, row]) => {
    const { http, retryable, message } = row;
    const fields = `kind: "${kindOf(row)}", status: ${http}, retryable: ${retryable}`;
    return `  ${code}: { ${fields},\n    message: ${JSON.stringify(message)} },`;
  });
  return `// Generated from kit/src/contract/errors.ts by \`npm run generate -w @wonrail/sdk\`; do not edit.

/** Every code that the service answers with. \`retryable\`: the same request may succeed later. */
// oxfmt-ignore
export const errorCodes = {
${rows.join("\n")}
} as const;
`;
}

/** The kind of an error follows from the remedy, and decides its class. */
function kindOf({ http, grpc }: ErrorRow): string {
  switch (http) {
    case 401:
      return "authentication";
    case 403:
      return "permission";
    case 404:
      return "notFound";
    case 409:
      return "conflict";
    case 429:
      return "rateLimit";
    case 503:
      return "unavailable";
    case 504:
      return "outcomeUnknown";
    case 500:
    case 501:
      return "server";
    case 400:
      return grpc === "FAILED_PRECONDITION" ? "refused" : "invalidRequest";
    case 405:
    case 413:
    case 415:
    case 422:
      return "invalidRequest";
    default:
      throw new Error(`no kind of error has the status ${http}; decide which class it is`);
  }
}
