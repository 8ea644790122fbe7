import { type Change, type ObjectState } from "./change";
import { partOf } from "./settlements";

type Source = Pick<Change, "orgId" | "sourceId" | "occurredAt">;

/** No public event tells of changed metadata. The next event of the object has it. */
export function metadataChange(
  source: Source,
  { objectId, partId, metadata }: { objectId: string; partId: string; metadata: Record<string, string> },
): Change {
  return {
    ...source,
    ...{ objectId, types: [] },
    apply: (state) => state && withMetadata(state, partId, metadata),
  };
}

function withMetadata(state: ObjectState, partId: string, metadata: Record<string, string>): ObjectState {
  const data = structuredClone(state.data) as Record<string, unknown>;
  const part = partOf(data, partId);
  if (part) part.metadata = metadata;
  return { ...state, data };
}
