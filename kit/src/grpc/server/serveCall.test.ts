import { status } from "@grpc/grpc-js";
import { isServerFault } from "./serveCall";

test("only failures of the server mark a span as an error", () => {
  const faults = Object.values(status).filter((code) => typeof code === "number" && isServerFault(code));
  expect(faults.map((code) => status[code as status]).sort()).toEqual([
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "INTERNAL",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
  ]);
});
