import { termsOf } from "./terms";

test("only filled terms are sent, in the types of the message", () => {
  expect(
    termsOf({
      name: " Bank ",
      plan: "PLAN_FREE",
      status: "",
      maxChargeWon: "1,000,000",
      ratePerSecond: "50",
    }),
  ).toEqual({ name: "Bank", plan: "PLAN_FREE", maxChargeWon: "1000000", ratePerSecond: 50 });
});
