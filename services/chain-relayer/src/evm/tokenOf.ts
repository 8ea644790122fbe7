import { addressOf, encodeToken } from "./contracts";
import { type Provider } from "./provider";
import { RpcRefusal } from "./rpc";

/** The token of a payment manager, in lower case; null of an address where there is none. */
export async function tokenOf(
  provider: Pick<Provider, "callAt">,
  manager: string,
  at: bigint,
): Promise<string | null> {
  try {
    const answer = await provider.callAt(manager, encodeToken(), at);
    return answer.length === 66 ? addressOf(answer) : null;
  } catch (error) {
    if (error instanceof RpcRefusal) return null;
    throw error;
  }
}
