import { Button, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";

/** A secret that the service answers once and does not keep. */
export function SecretOnce({ name, secret }: { name: string; secret: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <div>
      <Text size="sm">
        {name}, shown only now: <span className="mono">{secret}</span>
      </Text>
      <Button size="compact-sm" variant="default" my="xs" onClick={() => void copy()}>
        {copied ? "Copied" : `Copy ${name}`}
      </Button>
    </div>
  );
}
