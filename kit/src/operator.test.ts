import * as os from "node:os";
import { operatorOf } from "./operator";

jest.mock("node:os");

test("is the name in the environment, else the account, else its number", () => {
  const userInfo = jest.mocked(os.userInfo);
  userInfo.mockReturnValue({ username: "ops" } as never);
  expect(operatorOf({ USER: "alice" })).toBe("operator:alice");
  expect(operatorOf({})).toBe("operator:ops");
  userInfo.mockImplementation(() => {
    throw new Error("uv_os_get_passwd");
  });
  expect(operatorOf({})).toMatch(/^operator:uid-\d+$/);
});
