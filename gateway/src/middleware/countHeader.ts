import { type IncomingMessage } from "node:http";

/** Counts a header, given in lower case. Node joins some repeated headers and drops others. */
export function countHeader({ rawHeaders }: IncomingMessage, header: string): number {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === header.length && name.toLowerCase() === header) times += 1;
  }
  return times;
}
