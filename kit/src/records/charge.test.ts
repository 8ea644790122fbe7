import { won } from "../contract/money";
import { cancellableUntil, chargeStatus } from "./charge";

test("a charge's status follows its cancelled amount", () => {
  const of = (cancelled: bigint) => chargeStatus({ amountWon: won(1000n), cancelledWon: won(cancelled) });
  expect([of(0n), of(1n), of(999n), of(1000n)]).toEqual([
    "CHARGED",
    "PARTIALLY_CANCELLED",
    "PARTIALLY_CANCELLED",
    "CANCELLED",
  ]);
});

test("a charge can be cancelled for 30 days of 24 hours", () => {
  expect(cancellableUntil({ createdAt: new Date("2026-03-01T12:00:00Z") })).toEqual(
    new Date("2026-03-31T12:00:00Z"),
  );
});
