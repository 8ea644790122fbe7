import { type RequestOf } from "../api/services";
import { type Field, type Values } from "../blocks/actionButton";

type Terms = NonNullable<RequestOf<"wonrail.auth.v1.AuthAdminService/SetOrganisation">["terms"]>;

const STAYS = { value: "", label: "As it is, or the plan's value" };
const STATUSES = ["ORGANISATION_STATUS_ACTIVE", "ORGANISATION_STATUS_SUSPENDED"] as const;
const PLANS = ["PLAN_FREE", "PLAN_STANDARD", "PLAN_ENTERPRISE"] as const;

/** Empty fields stay as they are. A new organisation needs a name. */
export function termFields({ required }: { required: boolean }): Field[] {
  return [
    { name: "name", label: "Name", required },
    { name: "status", label: "Status", kind: "select", options: choices(STATUSES, "ORGANISATION_STATUS_") },
    { name: "plan", label: "Plan", kind: "select", options: choices(PLANS, "PLAN_") },
    {
      name: "subscriptionStartsAt",
      label: "Subscription starts at",
      description: "2026-12-01T00:00:00+09:00",
    },
    { name: "subscriptionEndsAt", label: "Subscription ends at", description: "2027-12-01T00:00:00+09:00" },
    { name: "incentiveRateBps", label: "Incentive rate (basis points)", description: "250 is 2.5 %." },
    { name: "dailyTransferLimitWon", label: "Transfers of a wallet in a day (KRW)" },
    { name: "dailyChargeLimitWon", label: "Charges of all wallets in a day (KRW)" },
    { name: "maxChargeWon", label: "Largest charge (KRW)" },
    { name: "ratePerSecond", label: "Requests per second" },
    { name: "rateBurst", label: "Requests at once" },
  ];
}

/** Only the fields that the operator filled. The service checks their form. */
export function termsOf(values: Values): Terms {
  const text = (name: string) => (values[name] ?? "").trim();
  const texts = ["name", "subscriptionStartsAt", "subscriptionEndsAt"] as const;
  const amounts = ["dailyTransferLimitWon", "dailyChargeLimitWon", "maxChargeWon"] as const;
  const numbers = ["incentiveRateBps", "ratePerSecond", "rateBurst"] as const;
  const filled = (name: string) => text(name) !== "";
  const entries: [string, string | number][] = [
    ...[...texts, "status", "plan"].filter(filled).map((name): [string, string] => [name, text(name)]),
    ...amounts.filter(filled).map((name): [string, string] => [name, text(name).replaceAll(",", "")]),
    ...numbers.filter(filled).map((name): [string, number] => [name, Number(text(name))]),
  ];
  return Object.fromEntries(entries) as unknown as Terms;
}

function choices(values: readonly string[], prefix: string) {
  const options = values.map((value) => ({ value, label: value.slice(prefix.length).toLowerCase() }));
  return [STAYS, ...options];
}
