import { managerAbi, tokenAbi } from "../../evm/contracts";
import { GIVEN_UP, HOLD_FAILURE_REASONS } from "./holdFailureReasons";

const OTHERS = /^custody_[a-z_]+$|^given_up_by_operator$|^failed_in_sandbox$/;

test("each reason is an error of the contracts, a refusal of custody, or a decision", () => {
  for (const reason of HOLD_FAILURE_REASONS) {
    const error = tokenAbi.getError(reason) ?? managerAbi.getError(reason);
    expect([reason, error !== null || OTHERS.test(reason)]).toEqual([reason, true]);
  }
});

test("a blocked account and a decision of an operator are reasons", () => {
  expect(HOLD_FAILURE_REASONS).toEqual(expect.arrayContaining(["AccountBlocked", GIVEN_UP]));
});

test("a pause, a missing role and a lack of gas are no reasons", () => {
  for (const reason of ["EnforcedPause", "AccessControlUnauthorizedAccount", "out_of_gas"])
    expect(HOLD_FAILURE_REASONS).not.toContain(reason);
});
