import {
  checkMetadata,
  checkMemo,
  checkReference,
  requireFields,
  throwProblems,
} from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";

/** Your own pairs of strings: at most 10. Keys have at most 40 characters, values at most 500. */
export type Metadata = Record<string, string>;

/** Your notes on a request. They change nothing about the money. */
export interface Notes {
  /** At most 200 characters. */
  memo?: string | undefined;
  /** Your own reference, such as an order number: at most 100 characters. Lists filter by it. */
  reference?: string | undefined;
  /** Your own data. It can be changed later. */
  metadata?: Metadata | undefined;
}

/** Your notes on an object. */
export interface ShownNotes {
  /** Memo of the request. */
  memo: string | null;
  /** Reference of the request. */
  reference: string | null;
  /** Your own data. */
  metadata: Metadata;
}

/** A change of metadata. */
export interface UpdateMetadataRequest {
  /** The pairs to write. null deletes a pair. The others stay. */
  metadata: Record<string, string | null>;
}

/** Names of the notes in every request. */
export const NOTE_NAMES: KnownNames<Notes> = { memo: true, reference: true, metadata: true };
const UPDATE_NAMES: KnownNames<UpdateMetadataRequest> = { metadata: true };

/** The problems of the notes. */
export function noteProblems({ memo, reference, metadata }: Notes) {
  return [checkMemo(memo), checkReference(reference), checkMetadata(metadata)];
}

/** The body of a change of metadata. */
export function metadataBody(request: UpdateMetadataRequest): UpdateMetadataRequest {
  const { metadata } = requireFields("(body)", request, UPDATE_NAMES);
  const isObject = typeof metadata === "object" && metadata !== null && !Array.isArray(metadata);
  throwProblems([
    isObject ? undefined : { path: "metadata", message: "must be an object of strings and nulls" },
  ]);
  return request;
}
