import { DomainError, type ErrorCode } from "@wonrail/kit/contract/errors";
import { type Clients } from "../clients";
import { authCalls } from "./authCalls";
import { type LeaseQuota } from "./quotas";

const WISH: Parameters<LeaseQuota>[0] = {
  orgId: "org_1",
  quota: "WALLETS",
  wanted: 10,
  leaseId: "one",
  accounts: [],
};

const NOTHING = {
  granted: 0,
  validForMs: 0,
  limit: 1n,
  used: 1n,
  recallable: 0n,
  retryAfterMs: 0,
  resetsAt: undefined,
};

/** A lease call that gets these answers of auth in turn. */
function leaseWith(...answers: (ErrorCode | typeof NOTHING)[]) {
  const asked: unknown[] = [];
  const leaseQuota = async (request: unknown) => {
    asked.push(request);
    const answer = answers[asked.length - 1]!;
    if (typeof answer === "string") throw new DomainError(answer);
    return answer;
  };
  const { leaseQuota: lease } = authCalls({ leaseQuota } as unknown as Clients["auth"], "replica");
  return { lease: () => lease(WISH), asked };
}

test.each<[string, ErrorCode[], ErrorCode]>([
  ["that did nothing is not asked for again", ["SYS_002"], "SYS_002"],
  [
    "that may have been granted is retried, and may be granted while its outcome is unknown",
    ["SYS_003", "SYS_003"],
    "SYS_003",
  ],
  [
    "that may have been granted stays possible, although the second attempt was not executed",
    ["SYS_003", "SYS_002"],
    "SYS_003",
  ],
  ["that may have been granted is refused when auth then refuses it", ["SYS_003", "WAUTH_004"], "WAUTH_004"],
])("a lease %s", async (_, answers, code) => {
  const { lease, asked } = leaseWith(...answers);
  await expect(lease()).rejects.toMatchObject({ code });
  expect(asked).toHaveLength(answers.length);
  expect(new Set(asked.map((request) => JSON.stringify(request))).size).toBe(1);
});

test("a lease without units says whether an earlier attempt may still be granted", async () => {
  expect(await leaseWith(NOTHING).lease()).toMatchObject({ granted: 0, mayBeLent: false });
  expect(await leaseWith("SYS_003", NOTHING).lease()).toMatchObject({ granted: 0, mayBeLent: true });
});
