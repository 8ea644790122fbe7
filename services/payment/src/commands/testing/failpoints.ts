import { type World } from "./world";

// Replaces the kit's failpoint in tests that stop at a named step:
// jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

let stop: { at: string; run: () => Promise<void> } | undefined;

export async function failpoint(name: string): Promise<void> {
  if (stop?.at !== name) return;
  const { run } = stop;
  stop = undefined;
  await run();
}

/** Runs once, in the first work that reaches the point. */
export function runAtPoint(point: string, run: () => Promise<void>): void {
  stop = { at: point, run };
}

/** Hangs the first work that reaches the point until everything is killed. */
function hangAtPoint(point: string): { reached: Promise<void> } {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  runAtPoint(point, () => {
    reach();
    return new Promise(() => undefined);
  });
  return { reached };
}

/** Starts the work, waits until it reaches the point, and kills everything. */
export async function crashAt(world: World, point: string, work: () => Promise<unknown>): Promise<void> {
  const { reached } = hangAtPoint(point);
  // The process dies, so its answer reaches no caller.
  work().catch(() => undefined);
  await reached;
  await world.crash();
}
