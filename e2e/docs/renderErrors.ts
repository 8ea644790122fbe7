import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { errorAdvice } from "./errorAdvice";

const ABOUT = `A failure has the envelope
\`{success: false, data: null, error: {code, message, details}, requestId, timestamp}\`.
Decide by \`code\`: messages may change. \`details\` is an object or null.

- If the same request can succeed later, the answer carries \`Retry-After\`.
- After SYS_001 and SYS_003 the request may have been executed. Repeat a money request only with the
  same \`Idempotency-Key\`.
- REQ_002 is reserved: a request with a key in use joins the running one and gets the same answer.`;

/** Renders sdk/errors.md: the table of error codes for partners. The library is published without docs/. */
export function renderErrors(): string {
  const rows = entries().map(
    ([code, row]) =>
      `| ${code} | ${row.http} | ${row.grpc} | ${row.retryable ? "yes" : "no"} | ${row.message} |`,
  );
  return `<!-- Generated from kit/src/contract/errors.ts by npm run docs; do not edit. -->

# Error codes

${ABOUT}
- "Again" tells whether the same request can succeed later.

| Code | HTTP | gRPC | Again | Message |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

/** Renders docs/reference/errors.md: each code with the parts of caller, operator and support. */
export function renderErrorPage(): string {
  const sections = entries().map(([code, row]) => {
    const { operator, support } = errorAdvice[code];
    const again = row.retryable ? "can succeed when repeated" : "does not succeed when repeated unchanged";
    return `### ${code}

${row.message}

HTTP ${row.http}, gRPC ${row.grpc}. The request ${again}.

- **Operator:** ${operator}
- **Support:** ${support}
`;
  });
  return `<!-- Generated from kit/src/contract/errors.ts by npm run docs; do not edit. -->
<!-- The advice for operator and support is in e2e/docs/errorAdvice.ts. -->

# Error codes

The guide [Handle errors](../guides/handle-errors.md) shows the code for it.

${ABOUT}

The first line of each code is its message. It gives the cause and the caller's remedy.

${groupsOf(sections)}`;
}

function entries(): [ErrorCode, (typeof errorTable)[ErrorCode]][] {
  return Object.entries(errorTable) as [ErrorCode, (typeof errorTable)[ErrorCode]][];
}

const GROUPS: Record<string, string> = {
  WAUTH: "Keys and plans",
  WAL: "Wallets",
  TRF: "Transfers",
  CHG: "Charges and refunds",
  PAY: "Payments",
  PYO: "Payouts",
  EVT: "Events",
  WHK: "Webhooks",
  SBX: "Sandbox",
  TX: "Recorded transactions",
  REQ: "Requests",
  SIG: "Signing",
  RATE: "Rate limits",
  SYS: "Service",
};

function groupsOf(sections: string[]): string {
  const codes = entries().map(([code]) => code);
  return Object.entries(GROUPS)
    .map(([prefix, title]) => {
      const own = sections.filter((_, index) => codes[index]!.startsWith(`${prefix}_`));
      return `## ${title}\n\n${own.join("\n")}`;
    })
    .join("\n");
}
