import { errorTable } from "@wonrail/kit/contract/errors";

/** Renders docs/errors.md: the table of error codes for partners. */
export function renderErrors(): string {
  const rows = Object.entries(errorTable).map(
    ([code, row]) =>
      `| ${code} | ${row.http} | ${row.grpc} | ${row.retryable ? "yes" : "no"} | ${row.message} |`,
  );
  return `# Error codes

Generated from \`kit/src/contract/errors.ts\` by \`npm run docs\`; do not edit.

A failure has the envelope \`{"success": false, "data": null, "error": {"code", "message", "details"}, "requestId", "timestamp"}\`.
Decide by \`code\`: messages may change. \`details\` is an object or null. "Again" tells whether the same
request can succeed later. If it can, the answer carries \`Retry-After\`. REQ_002 is reserved: a request
with a key in use joins the running one and gets the same answer. After SYS_001 the request may have
been executed. Repeat a money request only with the same \`Idempotency-Key\`.

| Code | HTTP | gRPC | Again | Message |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
