import { mayUse, type RoleName } from "./roles";

const ROLES: RoleName[] = ["viewer", "support", "treasury", "compliance", "admin"];

test("a method is allowed to its role and to admin, and reads are allowed to every role", () => {
  const allowed = ROLES.map((role) => ROLES.filter((held) => mayUse({ role }, [held])));
  expect(allowed).toEqual([
    ROLES,
    ["support", "admin"],
    ["treasury", "admin"],
    ["compliance", "admin"],
    ["admin"],
  ]);
});

test("an operator without a role may use nothing", () => {
  expect(ROLES.filter((role) => mayUse({ role }, []))).toEqual([]);
});

test("a method that no service serves is allowed to nobody", () => {
  expect(mayUse(undefined, ["admin"])).toBe(false);
});
