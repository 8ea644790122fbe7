import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { inheritedEnv } from "../config";
import { randomFreePort } from "../process/freePort";
import { anvilBinary } from "./anvil";

const TIMEOUT_MS = 20_000;

/** Twelve random words, drawn by the node itself, which knows the word list. */
export async function newMnemonic(): Promise<string> {
  const args = ["--mnemonic-random", "12", "--host", "127.0.0.1", "--port", `${await randomFreePort()}`];
  const child = spawn(anvilBinary(), args, {
    stdio: ["ignore", "pipe", "ignore"],
    env: inheritedEnv(),
    timeout: TIMEOUT_MS,
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const words = /Mnemonic:\s+([a-z]+(?: [a-z]+){11})\s*$/.exec(line)?.[1];
      if (words !== undefined) return words;
    }
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
  throw new Error("The EVM node drew no mnemonic.");
}
