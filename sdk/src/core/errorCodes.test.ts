import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorTable } from "@wonrail/kit/contract/errors";
import { renderErrorCodes } from "../../bin/renderErrorCodes.ts";
import { errorCodes } from "./errorCodes.ts";

test("the file equals the generator's output; if not, run npm run generate -w @wonrail/sdk", () => {
  expect(readFileSync(join(__dirname, "errorCodes.ts"), "utf8")).toBe(renderErrorCodes());
});

test("the library's table equals the server's codes, statuses, messages and retry advice", () => {
  const server = Object.entries(errorTable).map(([code, { http, retryable, message }]) => [
    code,
    http,
    retryable,
    message,
  ]);
  const library = Object.entries(errorCodes).map(([code, { status, retryable, message }]) => [
    code,
    status,
    retryable,
    message,
  ]);
  expect(library).toEqual(server);
});
