import { setTimeout as sleep } from "node:timers/promises";
import { type Stack } from "@wonrail/local/stackFile";
import { type Api, type Json, openApi } from "../support/api";
import { krw, screen } from "./screen";

/** State that all chapters of the demo share. */
export interface Demo {
  stack: Stack;
  api: Api;
  /** Suffix that makes names unique for this run. */
  tag: string;
}

export function openDemo(stack: Stack): Demo {
  const [organisation] = stack.organisations;
  if (!organisation) throw new Error("The stack has no organisation; make reset and make up make a new one.");
  return { stack, api: openApi(stack.gatewayUrl, organisation.apiKey), tag: Date.now().toString(36) };
}

export async function makeWallet({ api, tag }: Demo, user: string, walletType: string): Promise<Json> {
  return api.post("/api/wallets", { userId: `${user}-${tag}`, walletType });
}

/** Prints the balance of each wallet. */
export async function showBalances({ api }: Demo, wallets: Record<string, Json>): Promise<void> {
  const parts = await Promise.all(
    Object.entries(wallets).map(
      async ([name, wallet]) => `${name} ${krw((await api.get(`/api/wallets/${wallet.walletId}`)).balance)}`,
    ),
  );
  screen.faint(`balances: ${parts.join("   ")}`);
}

/** Reads until the value is accepted, or the time limit is reached. */
export async function until(
  read: () => Promise<Json>,
  good: (value: Json) => boolean,
  timeoutMs = 120_000,
): Promise<Json> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (good(value)) return value;
    if (Date.now() > endMs)
      throw new Error(`waited ${timeoutMs / 1000} s without success; last value: ${JSON.stringify(value)}`);
    await sleep(400);
  }
}
