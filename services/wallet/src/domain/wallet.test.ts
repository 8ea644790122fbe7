import { visibleStatus } from "./wallet";

test("a wallet shows as active until it is deactivated", () => {
  expect((["OPENING", "ACTIVE", "DEACTIVATING", "DEACTIVATED"] as const).map(visibleStatus)).toEqual([
    ...["ACTIVE", "ACTIVE", "ACTIVE", "DEACTIVATED"],
  ]);
});
