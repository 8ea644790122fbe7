import { type IncomingMessage } from "node:http";

/** How often a request has a header, whose name is in lower case. Of several Node joins some and drops others. */
export function timesGiven({ rawHeaders }: IncomingMessage, header: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === header).length;
}
