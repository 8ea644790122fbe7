import { type ReactNode } from "react";

/** Names and values of one thing. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? "—"}</dd>
        </div>
      ))}
    </dl>
  );
}
