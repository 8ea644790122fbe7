import { errorTable } from "@wonrail/kit/contract/errors";

/** docs/errors.md: the one table of codes, as partners read it. */
export function renderErrors(): string {
  const rows = Object.entries(errorTable).map(
    ([code, row]) =>
      `| ${code} | ${row.http} | ${row.grpc} | ${row.retryable ? "yes" : "no"} | ${row.message} |`,
  );
  return `# Error codes

Generated from \`kit/src/contract/errors.ts\` by \`npm run docs\`; do not edit.

A failure has the envelope \`{"success": false, "data": null, "error": {"code", "message", "details"}, "requestId", "timestamp"}\`.
Decide by \`code\`; messages may be reworded. \`details\` is an object or null. "Again" says whether the very same request can
succeed later; where it can, the answer carries \`Retry-After\`. REQ_002 is reserved: today a request whose key is in use joins the one that
runs, and gets the same answer. SYS_001 does not say whether the request was done: one that moves money is made again with the same \`Idempotency-Key\`, and
with no other.

| Code | HTTP | gRPC | Again | Message |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
