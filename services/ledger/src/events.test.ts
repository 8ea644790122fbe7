import { newId } from "@wonrail/kit/contract/ids";
import { decide } from "./domain/decide";
import {
  openWorld,
  ORGS,
  request,
  requestId,
  stateAfter,
  walletId as walletIdOf,
} from "./domain/testing/world";
import type { Intent, LedgerRequest } from "./domain/types";
import { eventsOf } from "./events";

test("an account that is closed and opened again has one event for each change, in whatever batches", () => {
  const [orgId] = ORGS as [string];
  const walletId = walletIdOf(orgId, "kim", "NORMAL");
  const kinds = [
    "reopenAccount",
    "closeAccount",
    "reopenAccount",
    "reopenAccount",
    "closeAccount",
    "reopenAccount",
  ];
  const requests = kinds.map((kind, index) =>
    request(orgId, requestId(index + 1), { kind, walletId } as Intent),
  );
  const expected = ["account_closed 2", "account_reopened 3", "account_closed 4", "account_reopened 5"];
  for (const size of [1, 2, 3, 6]) {
    const told: string[] = [];
    let state = openWorld();
    for (let at = 0; at < requests.length; at += size) {
      const batch = requests.slice(at, at + size);
      const decision = decide(state, batch);
      told.push(
        ...eventsOf(decision.changes, batch.map(asItem)).map(({ type, version }) => `${type} ${version}`),
      );
      state = stateAfter(decision, state.nowMs + 1);
    }
    expect(told).toEqual(expected);
  }
});

const asItem = (request: LedgerRequest) => ({
  request,
  origin: { requestId: "", traceparent: "" },
  deadlineMs: Infinity,
});

test("an account that is opened and closed in one batch is told of twice, as in two", () => {
  const [orgId] = ORGS as [string];
  const walletId = newId("wal");
  const open: Intent = { kind: "openAccount", walletId, userId: "choi", type: "NORMAL" };
  const intents: Intent[] = [open, open, { kind: "closeAccount", walletId }];
  const requests = intents.map((intent, index) => request(orgId, requestId(index + 1), intent));
  const { changes } = decide({ ...openWorld(), newNumbers: [1_001n, 1_002n] }, requests);
  const events = eventsOf(changes, requests.map(asItem));
  expect(events.map(({ type, version }) => `${type} ${version}`)).toEqual([
    "account_opened 1",
    "account_closed 2",
  ]);
});
