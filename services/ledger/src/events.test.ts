import { newId } from "@wonrail/kit/ids";
import { decide } from "./domain/decide";
import { openWorld, ORGS, request, requestId } from "./domain/testing/world";
import type { Intent } from "./domain/types";
import { eventsOf } from "./events";

test("an account that is opened and closed in one batch is told of twice, as in two", () => {
  const [orgId] = ORGS as [string];
  const walletId = newId("wal");
  const open: Intent = { kind: "openAccount", walletId, userId: "choi", type: "NORMAL" };
  const intents: Intent[] = [open, open, { kind: "closeAccount", walletId }];
  const requests = intents.map((intent, index) => request(orgId, requestId(index + 1), intent));
  const { changes } = decide({ ...openWorld(), newNumbers: [1_001n, 1_002n] }, requests);
  const origin = { requestId: "", traceparent: "" };
  const events = eventsOf(
    changes,
    requests.map((request) => ({ request, origin, deadlineMs: Infinity })),
  );
  expect(events.map(({ type, version }) => `${type} ${version}`)).toEqual([
    "account_opened 1",
    "account_closed 2",
  ]);
});
