import { errorCodes } from "../../src/core/errorCodes.ts";
import { API_VERSION } from "../../src/internal/version.ts";

/** Returns the source of _contract.py: the version of the API and the meaning of each error code. */
export function renderContract(): string {
  const rows = Object.entries(errorCodes).map(([code, { kind, retryable, message }]) => {
    const name = kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return `    "${code}": ErrorCode("${name}", ${retryable ? "True" : "False"}, ${JSON.stringify(message)}),`;
  });
  return `# Generated from kit/src/contract/errors.ts by \`npm run docs\`; do not edit.
"""The version of the API, and every code that the service answers with."""

from typing import NamedTuple

API_VERSION = "${API_VERSION}"


class ErrorCode(NamedTuple):
    """The meaning of an error code."""

    kind: str
    """The kind of the error, which decides its class."""
    retryable: bool
    """True when the same request may succeed later."""
    message: str
    """The cause and the remedy."""


ERROR_CODES: dict[str, ErrorCode] = {
${rows.join("\n")}
}
`;
}
