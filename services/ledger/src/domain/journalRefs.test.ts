import { newId } from "@wonrail/kit/contract/ids";
import { readJournalRefs, writeJournalRefs } from "./journalRefs";

const traceparent = `00-${"0123456789abcdef".repeat(2)}-${"89abcdef".repeat(2)}-01`;

test("entries come back with the request and trace that they belong to, whatever form the request's id has", () => {
  const origins = [newId("req"), "partner-42", "x".repeat(128), ""].map((requestId) => ({
    requestId,
    traceparent,
  }));
  const refs = origins.map((origin) => ({ requestId: newId("jrn"), origin }));
  expect(readJournalRefs(writeJournalRefs(refs))).toEqual(refs);
});

test("an entry takes 57 bytes, since it is written for every transfer there is", () => {
  const ref = { requestId: newId("trf"), origin: { requestId: newId("req"), traceparent } };
  expect(writeJournalRefs([ref])).toHaveLength(57);
});

test("a trace that is no trace is left out", () => {
  const [ref] = readJournalRefs(
    writeJournalRefs([{ requestId: newId("trf"), origin: { requestId: "r", traceparent: "" } }]),
  );
  expect(ref!.origin.traceparent).toBe(`00-${"0".repeat(32)}-${"0".repeat(16)}-01`);
});

test("bytes that end in the middle of an entry are not guessed at", () => {
  expect(() => readJournalRefs(Buffer.alloc(20))).toThrow(/assertion failed/);
});
