/**
 * A second implementation of the money rules, in another style on purpose. Tests compare the
 * engine's answers with the model's.
 */
import { cancelCharge } from "../../intents/cancelCharge/model.testing";
import { cancelPayment } from "../../intents/cancelPayment/model.testing";
import { charge } from "../../intents/charge/model.testing";
import { closeAccount } from "../../intents/closeAccount/model.testing";
import { creditExternal } from "../../intents/creditExternal/model.testing";
import { freezeAccount } from "../../intents/freezeAccount/model.testing";
import { openAccount } from "../../intents/openAccount/model.testing";
import { payment } from "../../intents/payment/model.testing";
import { placeHold } from "../../intents/placeHold/model.testing";
import { postHold } from "../../intents/postHold/model.testing";
import { refund } from "../../intents/refund/model.testing";
import { reopenAccount } from "../../intents/reopenAccount/model.testing";
import { transfer } from "../../intents/transfer/model.testing";
import { voidHold } from "../../intents/voidHold/model.testing";
import type { IntentKind } from "../intents";
import type { LedgerRequest } from "../types";
import { ModelBook, Refused, dayOf, type Done, type Line, type ModelAnswer, type RuleOf } from "./modelBook";

export type { ModelAnswer } from "./modelBook";

const RULES: { [K in IntentKind]: RuleOf<K> } = {
  openAccount,
  closeAccount,
  reopenAccount,
  freezeAccount,
  charge,
  cancelCharge,
  refund,
  transfer,
  payment,
  cancelPayment,
  placeHold,
  postHold,
  voidHold,
  creditExternal,
};

export class Model extends ModelBook {
  private readonly keys = new Map<string, { id: string; body: string }>();

  apply(request: LedgerRequest, nowMs: number): ModelAnswer {
    const { orgId: org, intent } = request;
    const id = `${org}/${request.requestId.slice(4)}`;
    const content = contentWithoutPolicy(request);
    const key = request.key && `${org}/${request.key.scope}/${request.key.key}`;
    const used = key && this.keys.get(key);
    if (used)
      return used.body === request.key!.bodyHash ? this.done.get(used.id)!.answer : { code: "REQ_003" };
    const before = this.done.get(id);
    if (before) return before.content === content ? before.answer : { code: "REQ_003" };
    if (intent.kind === "creditExternal") {
      const first = this.done.get(this.logs.get(`${org}/${intent.chainLogId}`) ?? "");
      if (first) return first.content === content ? first.answer : { code: "REQ_003" };
    }
    const done: Done = { kind: intent.kind, content, answer: {}, atMs: nowMs, cancelled: 0n };
    try {
      done.answer = { lines: this.run(request, id, done, nowMs) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      done.answer = { code: error.code };
      if (intent.kind === "creditExternal" || intent.kind === "freezeAccount") return done.answer;
    }
    this.done.set(id, done);
    if (key) this.keys.set(key, { id, body: request.key!.bodyHash });
    return done.answer;
  }

  /** Sums all accounts. The sum must be zero. */
  total(): bigint {
    let sum = 0n;
    for (const wallet of this.wallets.values()) sum += wallet.balance;
    for (const org of this.orgs.values()) sum += org.issuance + org.incentive + org.external;
    return sum;
  }

  private run({ orgId: org, intent }: LedgerRequest, id: string, done: Done, nowMs: number): Line[] {
    const rule = RULES[intent.kind] as RuleOf<IntentKind>;
    return rule(this, { org, intent, id, done, nowMs, day: dayOf(nowMs) });
  }
}

function contentWithoutPolicy({ intent, memo, relatedId }: LedgerRequest): string {
  const rest: Record<string, unknown> = { ...intent, memo, relatedId };
  delete rest.dailyLimitWon;
  delete rest.maxChargeWon;
  delete rest.accrualRateBps;
  return JSON.stringify(rest, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
