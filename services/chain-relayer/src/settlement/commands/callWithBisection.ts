import { refusedFields } from "@wonrail/kit/contract/errors";

/**
 * Calls `ask` with all items. If the call is refused as malformed (REQ_001), calls it with each half,
 * and so on, so that a malformed item fails alone. Returns an answer per item, in order, and null for a
 * malformed item.
 */
export async function callWithBisection<I, O>(
  items: I[],
  ask: (part: I[]) => Promise<O[]>,
): Promise<(O | null)[]> {
  try {
    return await ask(items);
  } catch (error) {
    if (refusedFields(error).length === 0) throw error;
    if (items.length === 1) return [null];
    const half = items.length >> 1;
    return [
      ...(await callWithBisection(items.slice(0, half), ask)),
      ...(await callWithBisection(items.slice(half), ask)),
    ];
  }
}
