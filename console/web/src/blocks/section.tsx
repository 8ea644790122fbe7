import { Group, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <Group justify="space-between" mb="xs" gap="sm">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </section>
  );
}
