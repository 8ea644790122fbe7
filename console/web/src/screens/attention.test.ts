import { booksAgree, type HomeState, mattersOf } from "./attention";

type Relayer = NonNullable<HomeState["relayer"]["answer"]>;

const calm: HomeState = {
  ledger: {
    answer: {
      minutes: [],
      verifications: [
        { scope: "journal", violations: 0, brokenInvariants: [], finishedAt: "2026-11-27T10:00:00Z" },
      ],
    },
  },
  relayer: {
    answer: {
      queued: "0",
      oldestSeconds: 3,
      open: [],
      pausedQueues: 0,
      signer: { address: "0x1", spentWei: "1", spentOverSeconds: 60, lastsSeconds: "864000" },
      comparison: { finishedAt: "2026-11-27T10:00:00Z", openDrifts: [] },
    },
  },
  payment: {},
  events: {
    answer: { failingWebhooks: 0, disabledWebhooks: 0, dueDeliveries: 0, waitingDeliveries: 0 },
  },
  deadLetters: [{ service: "payment", count: 0 }],
  silent: [],
};

const withRelayer = (change: Partial<Relayer>): HomeState => ({
  ...calm,
  relayer: { answer: { ...calm.relayer.answer!, ...change } },
});

test("a calm system needs no operator, and its books agree", () => {
  expect([mattersOf(calm), booksAgree(calm)]).toEqual([[], true]);
});

test("BLOCKED operations are counted over their reasons and lead to settlement", () => {
  const blocked = (reason: string) => ({ state: "BLOCKED", reason, operations: 2, oldestSeconds: 5 });
  const open = [blocked("unreadable"), blocked("name_in_use"), { ...blocked(""), state: "WAITING" }];
  expect(mattersOf(withRelayer({ open }))).toEqual([
    { text: "4 operations BLOCKED: an operator must end each", to: "/settlement", tone: "bad" },
  ]);
});

test("gas for less than a day is a matter", () => {
  const signer = { address: "0x1", spentWei: "1", spentOverSeconds: 60, lastsSeconds: "7200" };
  expect(mattersOf(withRelayer({ signer })).map(({ text }) => text)).toEqual([
    "The signer's money for gas lasts 2 h",
  ]);
});

test("an open drift means that the books differ", () => {
  const comparison = {
    finishedAt: "2026-11-27T10:00:00Z",
    openDrifts: [{ kind: "balance", drifts: 1, units: "5" }],
  };
  const state = withRelayer({ comparison });
  expect([booksAgree(state), mattersOf(state)[0]?.to]).toEqual([false, "/reconciliation"]);
});

test("books without a finished comparison are unknown", () => {
  expect(booksAgree(withRelayer({ comparison: { openDrifts: [] } }))).toBeUndefined();
  expect(booksAgree({ ...calm, ledger: {} })).toBeUndefined();
});

test("bad matters come before waiting ones", () => {
  const state: HomeState = {
    ...withRelayer({ pausedQueues: 1, oldestSeconds: 3600 }),
    deadLetters: [{ service: "payment", count: 1 }],
    silent: [{ service: "events", code: "SYS_002" }],
  };
  expect(mattersOf(state).map(({ tone }) => tone)).toEqual(["bad", "bad", "waits", "waits"]);
});

test.each([
  ["SYS_002", "events does not answer (SYS_002)"],
  ["SYS_001", "events answers with the error SYS_001: read its log"],
])("a service with the error %s is a matter", (code, text) => {
  const state = { ...calm, silent: [{ service: "events", code }] };
  expect(mattersOf(state)).toEqual([{ text, to: "/system", tone: "bad" }]);
});
