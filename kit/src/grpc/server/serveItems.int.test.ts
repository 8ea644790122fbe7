import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { childTraceparent } from "../../context";
import { DomainError } from "../../contract/errors";
import { testLog } from "../../testing";
import { startTracing } from "../../tracing";
import { serveItems } from "./serveItems";

interface Export {
  resourceSpans: { scopeSpans: { spans: { status: object }[] }[] }[];
}

let collector: Server;
const statuses: object[] = [];

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Export;
      for (const { scopeSpans } of resourceSpans)
        for (const { spans } of scopeSpans) statuses.push(...spans.map(({ status }) => status));
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
});
afterAll(() => new Promise((resolve) => collector.close(resolve)));

test("the span of a bulk item has the status ERROR for our faults only, not for a refusal", async () => {
  const { port } = collector.address() as AddressInfo;
  const config = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_TRACES_SAMPLER_ARG: 1 };
  const tracing = startTracing(config, { service: "ledger", log: testLog() })!;
  const ends: Record<string, () => string> = {
    done: () => "done",
    refused: () => {
      throw new DomainError("TRF_001");
    },
    busy: () => {
      throw new DomainError("SYS_002");
    },
    unknown: () => {
      throw new DomainError("SYS_003");
    },
    broken: () => {
      throw new Error("a mistake of ours");
    },
  };
  const call = { context: { requestId: "req", traceparent: childTraceparent() } };
  const answers = await serveItems(
    Object.keys(ends),
    { ...call, signal: new AbortController().signal },
    {
      contextOf: () => ({ orgId: "org", requestId: "req", traceparent: childTraceparent() }),
      work: async (item) => ends[item]!(),
      log: testLog(),
    },
  );
  await tracing.close();
  expect(answers.map((answer) => ("error" in answer ? answer.error.code : answer.value))).toEqual([
    ...["done", "TRF_001", "SYS_002", "SYS_003", "SYS_001"],
  ]);
  const failed = (message: string) => ({ code: 2, message });
  expect(statuses).toEqual([{}, {}, failed("SYS_002"), failed("SYS_003"), failed("SYS_001")]);
});
