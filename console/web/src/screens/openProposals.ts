import { useQueries } from "@tanstack/react-query";
import { call } from "../api/call";
import { isAllowed } from "../api/hooks";
import { SERVICES } from "../api/services";
import { type Proposal } from "../blocks/proposalFacts";

const METHOD = "wonrail.common.v1.AdminService/ListProposals";
const REFETCH_MS = 15_000;

/** Open proposals of all services. */
export function useOpenProposals(): Proposal[] {
  return useQueries({
    queries: SERVICES.map((service) => ({
      queryKey: [METHOD, "open", service],
      queryFn: ({ signal }: { signal: AbortSignal }) => call(METHOD, { limit: 100 }, { service, signal }),
      enabled: isAllowed(METHOD),
      refetchInterval: REFETCH_MS,
    })),
    combine: (results) => results.flatMap(({ data }) => data?.proposals ?? []),
  });
}
