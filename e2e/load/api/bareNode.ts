import { spawn } from "node:child_process";
import { once } from "node:events";

const SERVER = `
  const server = require("node:http").createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ success: true, data: JSON.parse(body) }));
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
`;

/** A Node HTTP server that reads a body and answers, in a process of its own, for as long as the work takes. */
export async function withBareNode<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = spawn(process.execPath, ["-e", SERVER], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  try {
    const [port] = (await once(server, "message")) as [number];
    return await work(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
  }
}
