import { type World } from "./world";

// The kit's failpoint, for tests that stop somewhere:
// jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

let stop: { at: string; run: () => Promise<void> } | undefined;

export async function failpoint(name: string): Promise<void> {
  if (stop?.at !== name) return;
  const { run } = stop;
  stop = undefined;
  await run();
}

/** Is done by who comes there first. */
export function doAt(point: string, run: () => Promise<void>): void {
  stop = { at: point, run };
}

/** Who comes there first is left hanging until told to go on, or dies with everything else. */
export function hangAt(point: string): { reached: Promise<void>; goOn: () => void } {
  let [reach, goOn] = [(): void => undefined, (): void => undefined];
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  doAt(point, () => {
    reach();
    return gate;
  });
  return { reached, goOn: () => goOn() };
}

/** Starts the work, waits until it stands at the point, and takes the ground from under it. */
export async function dieAt(world: World, point: string, work: () => Promise<unknown>): Promise<void> {
  const { reached } = hangAt(point);
  // Nobody hears the answer of a process that died.
  work().catch(() => undefined);
  await reached;
  await world.crash();
}
