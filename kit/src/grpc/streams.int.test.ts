import { setTimeout as sleep } from "node:timers/promises";
import { DomainError } from "../contract/errors";
import { eventually } from "../testing/eventually";
import { closeAll, echoClient, type Note, startEcho } from "./echoService.testing";

afterEach(closeAll);

/** Larger than all the buffers on the way together, which hold some 64 KiB on each side. */
const BIG = "x".repeat(16 * 1024);
const MANY = 2000;

describe("a stream of responses", () => {
  test("arrives in order and ends", async () => {
    const { port } = await startEcho({
      async *repeat({ text }) {
        for (let count = 0; count < 500; count += 1) yield { text: `${text} ${count}` };
      },
    });
    const notes = await take(echoClient(port).repeat({ text: "note" }));
    expect(notes).toHaveLength(500);
    expect(notes.at(-1)).toEqual({ text: "note 499" });
  });

  test("is produced at the pace of its reader, and leaving the loop ends the producer", async () => {
    let produced = 0;
    let ended = false;
    const { port } = await startEcho({
      async *repeat() {
        try {
          for (; produced < MANY; produced += 1) yield { text: BIG };
        } finally {
          ended = true;
        }
      },
    });
    for await (const note of echoClient(port).repeat({ text: "" })) {
      expect(note.text).toHaveLength(BIG.length);
      await sleep(200);
      break;
    }
    expect(produced).toBeLessThan(MANY / 4);
    await eventually(() => expect(ended).toBe(true));
  });

  test("that fails half-way delivers its first messages and then the error", async () => {
    const { port } = await startEcho({
      async *repeat() {
        yield { text: "first" };
        throw new DomainError("TX_001", { id: "txn_1" });
      },
    });
    const client = echoClient(port);
    const got: Note[] = [];
    const reading = (async () => {
      for await (const note of client.repeat({ text: "" })) got.push(note);
    })();
    await expect(reading).rejects.toMatchObject({ code: "TX_001", details: { id: "txn_1" } });
    expect(got).toEqual([{ text: "first" }]);
  });

  test("ends with its deadline, on both sides", async () => {
    let ended = false;
    const { port } = await startEcho({
      async *repeat(note, { signal }) {
        try {
          while (!signal.aborted) {
            yield note;
            await sleep(10);
          }
        } finally {
          ended = true;
        }
      },
    });
    const client = echoClient(port);
    // A call that was delayed on the way ends before the server knows it.
    await eventually(async () => {
      const reading = take(client.repeat({ text: "" }, { timeoutMs: 100 }));
      await expect(reading).rejects.toMatchObject({ code: "SYS_003" });
      expect(ended).toBe(true);
    });
  });

  test("from an absent server is SYS_002", async () => {
    await expect(take(echoClient(1).repeat({ text: "" }))).rejects.toMatchObject({ code: "SYS_002" });
  });
});

async function take<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const message of messages) taken.push(message);
  return taken;
}
