import { channel } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { emptyEndedStreams } from "./endedStreams";

emptyEndedStreams();
emptyEndedStreams();

test.each(["http2.client.stream.close", "http2.server.stream.close"])(
  "a stream that is over has no listeners left, and may still fail (%s)",
  async (name) => {
    const stream = new EventEmitter();
    const heard: string[] = [];
    stream.on("data", () => heard.push("data")).on("close", () => heard.push("close"));
    channel(name).publish({ stream });
    // One listener, however often it was requested.
    expect(stream.listenerCount("close")).toBe(2);
    await turn();
    // The end was only announced: pending data is still emitted.
    stream.emit("data");
    stream.emit("close");
    expect(heard).toEqual(["data", "close"]);
    await turn();
    expect(stream.eventNames()).toEqual(["error"]);
    stream.emit("data");
    stream.emit("error", new Error("late"));
    expect(heard).toEqual(["data", "close"]);
  },
);
