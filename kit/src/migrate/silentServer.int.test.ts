import { createServer, type AddressInfo, type Server } from "node:net";
import { isUnreachable } from "../db/errors";
import { testLog } from "../testing";
import { migrate } from "./migrate";
import { provisionSchema } from "./provisionSchema";

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((socket) => void socket.on("error", () => undefined));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `postgres://somebody:secret@127.0.0.1:${(server.address() as AddressInfo).port}/somewhere`;
});
afterAll(() => void server.close());

// Otherwise these start-up steps would wait silently for ever.
test.each([
  ["migrates", () => migrate({ url, schema: "sample", log: testLog() })],
  [
    "provisions",
    () => provisionSchema({ adminUrl: url, schema: "sample", rolePassword: "a", ownerPassword: "b" }),
  ],
])(
  "who %s gives a server up that takes the connection and never says anything",
  async (_who, work) => {
    const error = await work().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isUnreachable(error)).toBe(true);
  },
  10_000,
);
