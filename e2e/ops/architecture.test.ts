import { AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { EventsServiceService } from "@wonrail/proto/events/v1/events";
import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { FeedServiceService } from "@wonrail/proto/common/v1/feed";
import { LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { EventsAdminServiceService } from "@wonrail/proto/events/v1/admin";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { PROCESSES, calledBy, readCallTable, readText } from "./repository";

test.each(PROCESSES.map((process) => [process.name, process] as const))(
  "ARCHITECTURE.md draws whom %s calls, and nobody else",
  (name, process) => {
    expect(readCallTable().get(name)).toEqual(calledBy(process));
  },
);

/** Service → method → callers allowed by certificate. */
const callers = JSON.parse(readText("proto/callers.json")) as Record<string, Record<string, string[]>>;
const SERVICES = {
  auth: AuthServiceService,
  wallet: WalletServiceService,
  ledger: LedgerServiceService,
  payment: PaymentServiceService,
  "chain-relayer": RelayerServiceService,
  events: EventsServiceService,
};

/** Their callers are the subject of adminRoles.test.ts. */
const ADMIN_SERVICES = [
  AdminServiceService,
  AuthAdminServiceService,
  LedgerAdminServiceService,
  RelayerAdminServiceService,
  PaymentAdminServiceService,
  EventsAdminServiceService,
  WalletAdminServiceService,
];

test("proto/callers.json lists exactly the existing methods", () => {
  const methods = [...Object.values(SERVICES), ...ADMIN_SERVICES, FeedServiceService].flatMap((service) =>
    Object.values(service).map(({ path }) => path.slice(1)),
  );
  const ruled = Object.entries(callers).flatMap(([service, rules]) =>
    Object.keys(rules).map((method) => `${service}/${method}`),
  );
  expect(ruled.sort()).toEqual(methods.sort());
});

test.each(Object.entries(SERVICES))(
  "its callers of %s are those that ARCHITECTURE.md draws",
  (name, service) => {
    const [, path] = Object.values(service)[0]!.path.split("/");
    const allowed = new Set(Object.values(callers[path!]!).flat());
    const drawn = [...readCallTable()].filter(([, calls]) => calls.includes(name)).map(([caller]) => caller);
    // A service that only reads another's feed is drawn too.
    const readers = callers["wonrail.common.v1.FeedService"]!.ListEvents!;
    expect(drawn.filter((caller) => !allowed.has(caller) && !readers.includes(caller))).toEqual([]);
    expect([...allowed].filter((caller) => !drawn.includes(caller))).toEqual([]);
  },
);

test("the services that consume feeds may read them, and no others", () => {
  expect(callers["wonrail.common.v1.FeedService"]).toEqual({
    ListEvents: ["payment", "chain-relayer", "events"],
  });
});

test("only chain-relayer may call SignAuthorizations", () => {
  expect(callers["wonrail.wallet.v1.WalletService"]!.SignAuthorizations).toEqual(["chain-relayer"]);
});
