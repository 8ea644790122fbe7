import { subscribe } from "node:diagnostics_channel";
import { type Http2Stream } from "node:http2";
import { eventually } from "../testing/eventually";
import { closeAll, echoClient, startEcho } from "./echoService.testing";

afterEach(closeAll);

const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
const isTold = major > 24 || (major === 24 && minor >= 2) || (major === 22 && minor >= 17);

const streams: Http2Stream[] = [];
for (const side of ["client", "server"])
  subscribe(`http2.${side}.stream.created`, (message) =>
    streams.push((message as { stream: Http2Stream }).stream),
  );

(isTold ? test : test.skip)(
  "both streams of a call that has ended have forgotten whom to tell, and those of one that has not have not",
  async () => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const { port } = await startEcho({
      async say(note) {
        if (note.text === "held") await held;
        return note;
      },
    });
    const client = echoClient(port);
    const running = client.say({ text: "held" });
    await eventually(() => expect(streams).toHaveLength(2));
    await expect(client.say({ text: "b".repeat(100_000) })).resolves.toEqual({ text: "b".repeat(100_000) });
    await eventually(() =>
      expect(streams.slice(2).map((stream) => stream.eventNames())).toEqual([["error"], ["error"]]),
    );
    for (const stream of streams.slice(0, 2)) expect(stream.eventNames()).toContain("end");
    answer();
    await expect(running).resolves.toEqual({ text: "held" });
  },
);
