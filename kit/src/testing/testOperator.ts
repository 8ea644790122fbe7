import { type ActingOperator } from "../admin";

/** An operator whom the kit has checked, for commands that record one. */
export function testOperator(changes: Partial<ActingOperator> = {}): ActingOperator {
  return {
    name: "tester",
    roles: ["admin"],
    reason: "test",
    method: "wonrail.test.v1.AdminService/Test",
    ...changes,
  };
}
