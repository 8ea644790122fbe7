/** What does not hold, and where. It is told until that place was looked at again: a round that fails forgets nothing. */
export interface Findings<Place, Row extends Place> {
  rows(): Row[];
  places(): Place[];
  /** What was looked at, and what was found: there, or where nobody thought of. */
  looked(places: Place[], rows: Row[]): void;
  /** Forgets the oldest where there are too many. */
  trim(): void;
}

export function createFindings<Place, Row extends Place>(
  maxPlaces: number,
  keyOf: (place: Place) => string,
): Findings<Place, Row> {
  const found = new Map<string, Row[]>();
  return {
    rows: () => [...found.values()].flat(),
    places: () => [...found.values()].map(([row]) => row!),
    looked(places, rows) {
      for (const place of [...places, ...rows]) found.delete(keyOf(place));
      for (const row of rows) found.set(keyOf(row), [...(found.get(keyOf(row)) ?? []), row]);
    },
    trim() {
      for (const key of [...found.keys()].slice(0, -maxPlaces)) found.delete(key);
    },
  };
}
