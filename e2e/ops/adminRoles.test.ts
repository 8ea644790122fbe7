import { implementAdmin, roleMessage, type AdminHandlers, type RoleName } from "@wonrail/kit/admin";
import { type GrpcService, type ServerCall } from "@wonrail/kit/grpc/server";
import { AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { type Database } from "@wonrail/kit/db";
import { EventsAdminServiceService } from "@wonrail/proto/events/v1/admin";
import { LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { readText } from "./repository";

interface Rule {
  role: RoleName;
  changes?: boolean;
  approval?: true | "conditional";
}

type ServiceDefinition = GrpcService["definition"];

const ROLES: RoleName[] = ["viewer", "support", "treasury", "compliance", "admin"];
const DEFINITIONS: ServiceDefinition[] = [
  AdminServiceService,
  AuthAdminServiceService,
  LedgerAdminServiceService,
  RelayerAdminServiceService,
  PaymentAdminServiceService,
  EventsAdminServiceService,
  WalletAdminServiceService,
];
const table = JSON.parse(readText("proto/adminRoles.json")) as Record<string, Record<string, Rule>>;
const callers = JSON.parse(readText("proto/callers.json")) as Record<string, Record<string, string[]>>;
const methods = DEFINITIONS.flatMap((definition) =>
  Object.entries(definition).map(([name, { path }]) => ({ definition, name, method: path.slice(1) })),
);
const ruleOf = (method: string) => {
  const [service, name] = method.split("/");
  return table[service!]![name!]!;
};

test("proto/adminRoles.json lists exactly the existing admin methods", () => {
  const ruled = Object.entries(table).flatMap(([service, rules]) =>
    Object.keys(rules).map((name) => `${service}/${name}`),
  );
  expect(ruled.sort()).toEqual(methods.map(({ method }) => method).sort());
});

test("only the console, the CLI and the service's own pod may call admin methods", () => {
  for (const [service, rules] of Object.entries(table))
    for (const name of Object.keys(rules))
      expect(callers[service]![name]).toEqual(["console", "cli", "self"]);
});

test("every method that changes state says so, and no other", () => {
  const reads = methods.filter(({ method }) => ruleOf(method).changes !== true).map(({ method }) => method);
  const names = methods
    .map(({ method }) => method)
    .filter((method) => /\/(List|Get|Search|Verify|Check)/.test(method));
  expect(reads).toEqual(names);
});

test("exactly the methods that answer a proposal need a second operator, and all of them change state", () => {
  const proposing = methods.filter(({ definition, name }) => {
    const answer = definition[name]!.responseDeserialize(Buffer.alloc(0)) as object;
    return "proposal" in answer;
  });
  const approved = methods.filter(({ method }) => ruleOf(method).approval !== undefined);
  expect(approved.map(({ method }) => method)).toEqual(proposing.map(({ method }) => method));
  expect(approved.every(({ method }) => ruleOf(method).changes)).toBe(true);
  const conditional = approved.filter(({ method }) => ruleOf(method).approval === "conditional");
  expect(conditional.map(({ name }) => name)).toEqual(["setOrganisation"]);
});

const cases = methods.flatMap((each) => ROLES.map((held) => ({ ...each, held })));

test.each(cases)(
  "$method decides on an operator with the role $held",
  async ({ definition, name, method, held }) => {
    const { role, changes } = ruleOf(method);
    const isAllowed = held === role || held === "admin" || role === "viewer";
    const called: string[] = [];
    const { handlers } = implementAdmin(definition, recorders(definition, called), {} as Database);
    const call = (reason: string) => {
      const request = { operator: { name: "kim", roles: [roleMessage(held)], reason } };
      return handlers[name]!(request as never, CALL) as Promise<unknown>;
    };
    if (!isAllowed) {
      await expect(call("asked by the bank")).rejects.toThrow(`The operator kim lacks the role ${role}.`);
      expect(called).toEqual([]);
      return;
    }
    await call("asked by the bank");
    expect(called).toEqual([name]);
    if (changes) await expect(call("")).rejects.toMatchObject({ code: "REQ_001" });
    else await call("");
    expect(called).toHaveLength(changes ? 1 : 2);
  },
);

const CALL = { context: {}, signal: new AbortController().signal } as ServerCall;

/** Handlers that note their names. */
function recorders<D extends ServiceDefinition>(definition: D, called: string[]): AdminHandlers<D> {
  const entries = Object.keys(definition).map((name) => [name, async () => void called.push(name)]);
  return Object.fromEntries(entries) as AdminHandlers<D>;
}
