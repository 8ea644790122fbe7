import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorTable } from "@wonrail/kit/contract/errors";
import { renderErrorCodes } from "../../bin/renderErrorCodes.ts";
import { errorCodes } from "./errorCodes.ts";

test("the file is what the generator writes; if not, run npm run generate -w @wonrail/sdk", () => {
  expect(readFileSync(join(__dirname, "errorCodes.ts"), "utf8")).toBe(renderErrorCodes());
});

test("the library's table has the server's codes, statuses, messages and advice to try again", () => {
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
