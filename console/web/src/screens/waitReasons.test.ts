import { explainReason } from "./waitReasons";

test("a known reason keeps its name and gets an explanation", () => {
  expect(explainReason("queue_paused")).toBe(
    "queue_paused: an operator paused the queue of its organisation; resume the queue",
  );
});

test("an unknown reason is shown as it is", () => {
  expect(explainReason("ERC20InvalidReceiver")).toBe("ERC20InvalidReceiver");
  expect(explainReason(undefined)).toBeUndefined();
});
