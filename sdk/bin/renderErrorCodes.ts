import { type ErrorRow, errorTable } from "@wonrail/kit/contract/errors";

/**
 * Returns the source of src/core/errorCodes.ts. The published SDK cannot import the kit's error table,
 * so it contains a copy.
 */
export function renderErrorCodes(): string {
  const entries = Object.entries<ErrorRow>(errorTable).map(([code, row]) => {
    const { http, retryable, message } = row;
    const fields = `kind: "${kindOf(row)}", status: ${http}, retryable: ${retryable}`;
    return `  ${code}: { ${fields},\n    message: ${JSON.stringify(message)} },`;
  });
  return `// Generated from kit/src/contract/errors.ts by \`npm run generate -w @wonrail/sdk\`; do not edit.

/** Every code that the service answers with. \`retryable\`: the same request may succeed later. */
// oxfmt-ignore
export const errorCodes = {
${entries.join("\n")}
} as const;
`;
}

/**
 * Returns the kind of an error, which decides the SDK's error class. Status 400 has two kinds:
 * FAILED_PRECONDITION is a refusal by the state of an object, and the rest are invalid requests.
 */
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
      throw new Error(`HTTP status ${http} has no kind of error; add a case for it to kindOf`);
  }
}
