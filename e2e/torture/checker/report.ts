import { type HistoryLine } from "../history";
import { type Violation } from "./violation";

const MAX_OPERATIONS = 20;

/** The violations as text, each with the lines of its operations. */
export async function describeViolations(
  violations: Violation[],
  history: AsyncIterable<HistoryLine> | Iterable<HistoryLine>,
): Promise<string> {
  const shown = (violation: Violation) => violation.operations.slice(-MAX_OPERATIONS);
  const lines = new Map<number, HistoryLine[]>(violations.flatMap(shown).map((id) => [id, []]));
  for await (const line of history) if ("operation" in line) lines.get(line.operation)?.push(line);
  return violations
    .map((violation) => {
      const { check, organisation, message } = violation;
      const part = shown(violation).flatMap((id) => lines.get(id)!);
      return [
        `${check} (${organisation}): ${message}`,
        ...part.map((line) => `    ${JSON.stringify(line)}`),
      ].join("\n");
    })
    .join("\n\n");
}
