import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { DomainError } from "../contract/errors";
import { ERROR_TRAILER, fromErrorDetail, fromServiceError, toErrorDetail } from "./wireErrors";

const PATH = "/wonrail.ledger.v1.LedgerService/Post";

test.each([
  ["UNAVAILABLE", "No connection established. Last error: connect ECONNREFUSED", "SYS_002"],
  ["UNAVAILABLE", "round_robin: No connection established. Last error: none", "SYS_002"],
  ["UNAVAILABLE", "Name resolution failed for target dns:///ledger:1", "SYS_002"],
  ["UNAVAILABLE", "Stream refused by server", "SYS_002"],
  ["UNAVAILABLE", "Connection dropped", "SYS_003"],
  ["UNAVAILABLE", "read ECONNRESET", "SYS_003"],
  ["DEADLINE_EXCEEDED", "Deadline exceeded after 1s", "SYS_003"],
  ["CANCELLED", "Call cancelled", "SYS_003"],
  ["UNIMPLEMENTED", "The server does not implement the method", "SYS_004"],
  ["RESOURCE_EXHAUSTED", "Received message larger than max", "SYS_001"],
  ["INTERNAL", "Received RST_STREAM with code 2 (Internal server error)", "SYS_003"],
  ["INTERNAL", "Error deserializing request", "SYS_001"],
  ["UNKNOWN", "", "SYS_001"],
] as const)("%s by the transport (%s) is %s", (name, details, code) => {
  const error = failure(status[name], details);
  expect(fromServiceError(error, PATH)).toMatchObject({
    code,
    details: null,
    cause: { message: PATH, cause: error },
  });
});

test("the server's own code takes precedence over the status", () => {
  const metadata = new Metadata();
  metadata.set(ERROR_TRAILER, Buffer.from([0x0a, 7, ...Buffer.from("PAY_001")]));
  expect(fromServiceError(failure(status.UNAVAILABLE, "", metadata), PATH)).toMatchObject({
    code: "PAY_001",
    details: null,
  });
});

test("an unreadable trailer is SYS_001", () => {
  const metadata = new Metadata();
  metadata.set(ERROR_TRAILER, Buffer.from([0x0a, 200, 1]));
  expect(fromServiceError(failure(status.NOT_FOUND, "", metadata), PATH)).toMatchObject({ code: "SYS_001" });
});

test.each(["not json", "[1]", "3", "null", '"text"'])(
  "details that are no object (%s) are dropped",
  (detailsJson) => {
    expect(fromErrorDetail({ code: "WAL_002", detailsJson })).toMatchObject({
      code: "WAL_002",
      details: null,
    });
  },
);

test("only a DomainError reveals its code and details", () => {
  for (const error of [new Error("inside"), "text", null, undefined, { code: "WAL_002" }]) {
    expect(toErrorDetail(error)).toEqual({ code: "SYS_001", detailsJson: undefined });
  }
  expect(toErrorDetail(new DomainError("WAL_001", { walletId: "wal_1" }))).toEqual({
    code: "WAL_001",
    detailsJson: '{"walletId":"wal_1"}',
  });
});

function failure(code: status, details: string, metadata = new Metadata()): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata });
}
