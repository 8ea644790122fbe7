import { refusedFields } from "@wonrail/kit/contract/errors";

/**
 * Calls with all items. If the call is refused as malformed, each half is called
 * separately, so that a malformed item fails alone. `ask` returns an answer per item, in order.
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
