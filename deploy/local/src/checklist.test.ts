import { createChecklist } from "./checklist";

function recorded({ live }: { live: boolean }) {
  let nowMs = 0;
  const written: string[] = [];
  const checklist = createChecklist({
    write: (text) => written.push(text),
    live,
    color: false,
    now: () => nowMs,
  });
  return { checklist, written, pass: (ms: number) => (nowMs += ms) };
}

test("a finished step is one line when lines cannot be rewritten", async () => {
  const { checklist, written, pass } = recorded({ live: false });
  const result = await checklist.step(
    "postgres",
    async () => {
      pass(1_250);
      return 7432;
    },
    (port) => `port ${port}`,
  );
  expect(result).toBe(7432);
  expect(written).toEqual(["✔ postgres        1.3 s  port 7432\n"]);
});

test("a failed step is marked, and its error reaches the caller", async () => {
  const { checklist, written } = recorded({ live: false });
  const failing = checklist.step("bus", () => Promise.reject(new Error("no broker")));
  await expect(failing).rejects.toThrow("no broker");
  expect(written).toEqual(["✘ bus             0.0 s  failed\n"]);
});

test("a terminal shows running steps below finished ones, and redraws them", async () => {
  const { checklist, written, pass } = recorded({ live: true });
  let finishFirst: () => void = () => undefined;
  const first = checklist.step("chain", () => new Promise<void>((resolve) => (finishFirst = resolve)));
  const second = checklist.step("bus", async () => pass(500));
  await second;
  finishFirst();
  await first;
  expect(written).toEqual([
    "⠋ chain          0.0 s\n",
    "\u001b[1A\u001b[0J⠋ chain          0.0 s\n⠋ bus            0.0 s\n",
    "\u001b[2A\u001b[0J✔ bus             0.5 s\n⠋ chain          0.5 s\n",
    "\u001b[1A\u001b[0J✔ chain           0.5 s\n",
  ]);
});

test("a note leaves the running steps in place", () => {
  const { checklist, written } = recorded({ live: false });
  checklist.note("auth ended with SIGKILL; starting it again");
  expect(written).toEqual(["auth ended with SIGKILL; starting it again\n"]);
});
