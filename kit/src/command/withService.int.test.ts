import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AdminServiceService, DeadLetterState } from "@wonrail/proto/common/v1/admin";
import { createAdminService } from "../admin";
import { type GrpcService } from "../grpc/server";
import { callersOf } from "../service";
import { buildWorld } from "../testing/buildWorld";
import { makeAuthority } from "../testing/certificates";
import { CouldNotRun, Refusal } from "./runCommands";
import { operatorMessage, withService } from "./withService";

const authority = makeAuthority("wonrail test authority");
const identityOf = (name: string) => authority.issue(name, [`DNS:${name}`]);

const world = buildWorld(async (open) => {
  const { db } = await open.database({ schema: "sample" });
  const services = [createAdminService({ db, service: "sample", commit: "0", topic: undefined })];
  const tls = { tls: identityOf("payment"), callers: callersOf("payment", services) };
  const { address } = await open.server(services, tls);
  const silent: GrpcService = {
    definition: AdminServiceService,
    handlers: { listDeadLetters: () => new Promise(() => undefined) },
  };
  return { folder: () => open.folder(), address, silent: await open.server([silent]) };
});
afterAll(async () => (await world).close());

/** The home of a stack whose stack.json names the service and the certificate of this caller. */
async function homeOf(caller: string): Promise<string> {
  const { folder, address } = await world;
  const home = folder();
  const files = Object.entries(identityOf(caller)).map(([name, pem]) => {
    const file = join(home, name);
    writeFileSync(file, pem as Buffer);
    return [name, file];
  });
  const stack = { services: { payment: { grpc: address } }, cli: Object.fromEntries(files) as object };
  writeFileSync(join(home, "stack.json"), JSON.stringify(stack));
  return home;
}

const list = (config: { PAYMENT_ADDRESS?: string; WONRAIL_HOME?: string }, timeoutMs = 10_000) =>
  withService(config, "payment", AdminServiceService, (payment) =>
    payment.listDeadLetters(
      {
        operator: operatorMessage({ config: { USER: "kim" } }),
        state: DeadLetterState.UNSPECIFIED,
        limit: 5,
        beforeId: undefined,
      },
      { timeoutMs },
    ),
  );

test("finds the service and the CLI's certificate by the stack.json of a running stack", async () => {
  expect(await list({ WONRAIL_HOME: await homeOf("cli") })).toEqual({ deadLetters: [] });
});

test("reports a certificate that the service does not admit", async () => {
  const refusal = list({ WONRAIL_HOME: await homeOf("gateway") });
  await expect(refusal).rejects.toThrow(
    new Refusal("This caller may not use this method: see proto/callers.json."),
  );
});

test("reports an unknown outcome when the service does not answer in time", async () => {
  const { silent } = await world;
  const late = list({ PAYMENT_ADDRESS: silent.address }, 200);
  await expect(late).rejects.toThrow(CouldNotRun);
  await expect(late).rejects.toThrow("The command may have been executed: look before you repeat it.");
});
