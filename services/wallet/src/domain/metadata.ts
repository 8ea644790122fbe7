import { type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";

export type Metadata = Record<string, string>;

const MAX_PAIRS = 5;
const MAX_KEY_CHARACTERS = 40;
const MAX_VALUE_CHARACTERS = 500;

/** A partner's notes on a wallet. Lengths count characters, not UTF-16 units. */
export function checkMetadata(metadata: Metadata): void {
  const problems: FieldProblem[] = [];
  const pairs = Object.entries(metadata);
  if (pairs.length > MAX_PAIRS)
    problems.push({ path: "metadata", message: `has more than ${MAX_PAIRS} pairs` });
  for (const [key, value] of pairs) {
    const ofKey = [...key];
    const path = `metadata.${ofKey.slice(0, MAX_KEY_CHARACTERS).join("")}`;
    if (ofKey.length < 1 || ofKey.length > MAX_KEY_CHARACTERS) {
      problems.push({ path, message: `the key must have 1 to ${MAX_KEY_CHARACTERS} characters` });
    }
    if ([...value].length > MAX_VALUE_CHARACTERS) {
      problems.push({ path, message: `must have at most ${MAX_VALUE_CHARACTERS} characters` });
    }
  }
  if (problems.length > 0) throw invalidRequest(problems);
}
