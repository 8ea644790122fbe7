import { type Client, Metadata } from "@grpc/grpc-js";

/** grpc.health.v1.HealthCheckResponse with status SERVING: field 1 is the varint 1. */
const SERVING = Buffer.from([0x08, 0x01]);

/** Asks the server's health service. An empty request means the whole server, and has no bytes. */
export function checkHealth(client: Client, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      () => Buffer.alloc(0),
      (bytes: Buffer) => bytes,
      {},
      new Metadata(),
      { deadline: Date.now() + timeoutMs },
      (error, answer) => {
        if (error) reject(error);
        else if (answer?.equals(SERVING)) resolve();
        else reject(new Error("the server does not serve"));
      },
    );
  });
}
