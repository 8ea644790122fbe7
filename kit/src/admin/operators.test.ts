import { OperatorRole } from "@wonrail/proto/common/v1/common";
import { type AdminRule, checkOperator, OPERATOR_ROLES, roleMessage } from "./operators";

const call = { method: "wonrail.test.v1.AdminService/Act", client: "console" };
const kim = { name: "kim", roles: [OperatorRole.SUPPORT], reason: "asked by the partner" };

test.each(OPERATOR_ROLES.flatMap((needed) => OPERATOR_ROLES.map((held) => [needed, held] as const)))(
  "a method for %s decides on an operator with %s",
  (role, held) => {
    const check = () => checkOperator({ role }, { ...kim, roles: [roleMessage(held)] }, call);
    if (held === role || held === "admin" || role === "viewer")
      expect(check()).toMatchObject({ roles: [held] });
    else expect(check).toThrow(`The operator kim lacks the role ${role}.`);
  },
);

test("an operator without a known role may not even read", () => {
  for (const roles of [[], [OperatorRole.UNSPECIFIED], [OperatorRole.UNRECOGNIZED]])
    expect(() => checkOperator({ role: "viewer" }, { ...kim, roles }, call)).toThrow("lacks the role viewer");
});

test("a change needs a reason, and a read needs none", () => {
  const change: AdminRule = { role: "support", changes: true };
  for (const reason of ["", "  ", "x".repeat(501)]) {
    expect(() => checkOperator(change, { ...kim, reason }, call)).toThrow(REFUSED);
    expect(checkOperator({ role: "support" }, { ...kim, reason }, call).name).toBe("kim");
  }
  const acting = { ...kim, roles: ["support"], ...call };
  expect(checkOperator(change, { ...kim, reason: ` ${kim.reason}\n` }, call)).toEqual(acting);
});

test.each(["", "x".repeat(65), "kim\n", "kim\u202e"])("the operator's name %j is refused", (name) => {
  expect(() => checkOperator({ role: "viewer" }, { ...kim, name }, call)).toThrow(REFUSED);
});

test("a request without an operator is refused", () => {
  expect(() => checkOperator({ role: "viewer" }, undefined, call)).toThrow(REFUSED);
});

const REFUSED = expect.objectContaining({ code: "REQ_001" }) as Error;
