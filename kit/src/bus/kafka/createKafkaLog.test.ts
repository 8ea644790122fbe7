import { createLog } from "../../log";
import { createKafkaLog } from "./createKafkaLog";

describe("createKafkaLog", () => {
  const start = () => {
    const lines: { level: string; msg: string }[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]);
    const clock = { ms: 0 };
    const say = createKafkaLog(
      createLog({ service: "test", level: "debug", destination: { write } }),
      () => clock.ms,
    );
    const entry = (label: string, message: string) =>
      say({ namespace: "Connection", label, log: { message } });
    return { lines, clock, entry };
  };

  it("logs kafkajs' errors as warnings, because it retries, and its information as debug", () => {
    const { lines, entry } = start();
    entry("ERROR", "Connection error");
    entry("WARN", "The group is rebalancing");
    entry("INFO", "Starting");
    expect(lines.map(({ level }) => level)).toEqual(["warn", "warn", "debug"]);
  });

  it("logs equal messages once in ten seconds, also among very many", () => {
    const { lines, clock, entry } = start();
    entry("ERROR", "Connection error");
    entry("ERROR", "Connection error");
    entry("ERROR", "Connection timeout");
    expect(lines.map(({ msg }) => msg)).toEqual(["Connection error", "Connection timeout"]);
    clock.ms = 10_000;
    entry("ERROR", "Connection error");
    for (let index = 0; index < 1_000; index += 1) entry("WARN", `message ${index}`);
    expect(lines).toHaveLength(1_003);
  });
});
