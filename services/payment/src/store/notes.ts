import { type Sql, sql } from "@wonrail/kit/db";
import { type Notes } from "@wonrail/kit/records";

// The columns memo, reference and metadata, which every record has.

export interface NotesRow {
  memo: string | null;
  reference: string | null;
  metadata: Record<string, string> | null;
}

export function notesFromRow({ memo, reference, metadata }: NotesRow): Notes {
  return { memo, reference, metadata: metadata ?? {} };
}

/** Three arrays for `unnest`. A missing note is null; a record without metadata stores null. */
export function notesArrays(notes: readonly (Notes | null)[]): Sql {
  return sql`
    ${notes.map((each) => each?.memo ?? null)}::text[],
    ${notes.map((each) => each?.reference ?? null)}::text[],
    ${notes.map((each) => metadataJson(each))}::jsonb[]`;
}

function metadataJson(notes: Notes | null): string | null {
  if (notes === null || Object.keys(notes.metadata).length === 0) return null;
  return JSON.stringify(notes.metadata);
}
