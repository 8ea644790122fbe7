import { type IncomingMessage } from "node:http";
import { API_VERSIONS, type ApiVersion, isApiVersion } from "@wonrail/kit/contract/apiVersions";
import { DomainError } from "@wonrail/kit/contract/errors";

/** Returns the version that the request asks for, if any. Two headers are joined to an unknown one. */
export function requestedVersion(req: IncomingMessage): ApiVersion | undefined {
  const version = req.headers["wonrail-version"] as string | undefined;
  if (version === undefined || isApiVersion(version)) return version;
  throw new DomainError("REQ_008", { versions: [...API_VERSIONS] });
}
