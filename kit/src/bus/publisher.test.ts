import { busMetrics } from "./metrics";
import { type BusMessage, MAX_MESSAGE_BYTES, MessageRefusedError } from "./port";
import { createPublisher } from "./publisher";

const message = (key: string, bytes: number): BusMessage => ({
  topic: "topic",
  partition: 0,
  key,
  value: Buffer.alloc(bytes),
  headers: {},
});

function publisherThat(send: (messages: BusMessage[]) => Promise<void>) {
  return createPublisher({ send, metrics: busMetrics() });
}

/** Records each call's messages, and holds the calls until released. */
function recorder() {
  const requests: string[][] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const send = async (messages: BusMessage[]): Promise<void> => {
    requests.push(messages.map(({ key }) => key));
    if (requests.length === 1) await released;
  };
  return { requests, send, release };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createPublisher", () => {
  it("sends one request at a time, and messages that arrive meanwhile in the next, in order", async () => {
    const { requests, send, release } = recorder();
    const publisher = publisherThat(send);
    const calls = [publisher.publish([message("a", 1)])];
    await turn();
    await turn();
    calls.push(publisher.publish([message("b", 1), message("c", 1)]), publisher.publish([message("d", 1)]));
    await turn();
    expect(requests).toEqual([["a"]]);
    release();
    await Promise.all(calls);
    expect(requests).toEqual([["a"], ["b", "c", "d"]]);
  });

  it("splits messages that exceed the size of one request", async () => {
    const requests: number[] = [];
    const publisher = publisherThat(async (messages) => void requests.push(messages.length));
    await publisher.publish(Array.from({ length: 5 }, () => message("k", MAX_MESSAGE_BYTES / 2 - 1)));
    expect(requests).toEqual([2, 2, 1]);
  });

  it("rejects only the calls of a failed request", async () => {
    const { requests, send, release } = recorder();
    const publisher = publisherThat(async (messages) => {
      await send(messages);
      if (messages.some(({ key }) => key === "bad")) throw new Error("broker says no");
    });
    const large = MAX_MESSAGE_BYTES - 10;
    const first = publisher.publish([message("first", 1)]);
    await turn();
    await turn();
    const outcomes = Promise.allSettled([
      publisher.publish([message("good", large)]),
      publisher.publish([message("good", large), message("bad", large)]),
      publisher.publish([message("later", large)]),
    ]);
    release();
    await first;
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(requests.flat()).not.toContain("later");
    await publisher.publish([message("afterwards", 1)]);
  });

  it("refuses a message that no bus can carry, and sends its neighbours", async () => {
    const sent: BusMessage[] = [];
    const publisher = publisherThat(async (messages) => void sent.push(...messages));
    const tooLarge = { ...message("k", MAX_MESSAGE_BYTES - 10), headers: { note: "0123456789" } };
    await expect(publisher.publish([message("k", 1), tooLarge])).rejects.toThrow(MessageRefusedError);
    expect(sent).toEqual([]);
  });

  it("sends no request for no messages", async () => {
    await publisherThat(() => Promise.reject(new Error("not expected"))).publish([]);
  });
});
