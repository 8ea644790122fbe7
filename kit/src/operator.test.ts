import * as os from "node:os";
import { operatorName } from "./operator";

jest.mock("node:os");

test("is the name in the environment, else the account, else its number", () => {
  const userInfo = jest.mocked(os.userInfo);
  userInfo.mockReturnValue({ username: "ops" } as never);
  expect(operatorName({ USER: "alice" })).toBe("alice");
  expect(operatorName({})).toBe("ops");
  userInfo.mockImplementation(() => {
    throw new Error("uv_os_get_passwd");
  });
  expect(operatorName({})).toMatch(/^uid-\d+$/);
});
