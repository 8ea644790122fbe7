import { refusedFields } from "@wonrail/kit/contract/errors";

/**
 * Asks about all at once. Where that is refused for the form of what is asked, each half is asked about by itself: one that no form fits keeps no other from
 * its answer, and has none itself. `ask` gives an answer for each, in their order.
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
