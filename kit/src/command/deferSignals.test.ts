import { deferSignals } from "./deferSignals";

const terminal = { err: () => undefined };
const listenersOf = () => (["SIGINT", "SIGTERM"] as const).map((signal) => process.rawListeners(signal));

test("works that overlap hold signals back until the last one has ended", async () => {
  const before = listenersOf();
  let endFirst!: () => void;
  let endSecond!: () => void;
  const first = deferSignals(terminal, () => new Promise<void>((resolve) => (endFirst = resolve)));
  const second = deferSignals(terminal, () => new Promise<void>((resolve) => (endSecond = resolve)));
  const held = listenersOf();
  expect(held).not.toEqual(before);
  endFirst();
  await first;
  expect(listenersOf()).toEqual(held);
  endSecond();
  await second;
  expect(listenersOf()).toEqual(before);
});
