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

/** Runs a minimal Node HTTP server in its own process during the work. */
export async function withBareNode<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = spawn(process.execPath, ["-e", SERVER], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  try {
    const [port] = (await once(server, "message")) as [number];
    return await work(`http://127.0.0.1:${port}`);
  } finally {
    server.kill();
  }
}
