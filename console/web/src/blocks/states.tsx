import { Alert, Button, Center, Group, Loader, Text } from "@mantine/core";
import { type ReactNode } from "react";
import { CallError } from "../api/call";
import { isAllowed, ruleOf } from "../api/hooks";

export function Loading({ what }: { what: string }): ReactNode {
  return (
    <Center p="lg" role="status">
      <Loader size="sm" mr="sm" />
      <Text size="sm">Loading {what}…</Text>
    </Center>
  );
}

export function Empty({ children }: { children: ReactNode }): ReactNode {
  return (
    <Text className="empty" size="sm">
      {children}
    </Text>
  );
}

/** The code, the message and the request id, with a way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }): ReactNode {
  const refusal = error instanceof CallError ? error : undefined;
  const message = error instanceof Error ? error.message : "Unknown error.";
  return (
    <Alert color="red" variant="outline" title={refusal?.code ?? "Error"} role="alert" className="failure">
      <Text size="sm">{message}</Text>
      {fieldsOf(refusal).map(({ path, message: text }) => (
        <Text size="sm" key={path}>
          {path}: {text}
        </Text>
      ))}
      <Group gap="sm" mt="xs">
        {refusal?.requestId ? <Text size="xs">Request id {refusal.requestId}</Text> : undefined}
        {retry === undefined ? undefined : (
          <Button size="compact-sm" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** Draws its children only for an operator who may use the method. */
export function Allowed({ method, children }: { method: string; children: ReactNode }): ReactNode {
  if (isAllowed(method)) return children;
  const role = ruleOf(method)?.role;
  return (
    <Empty>
      {role === undefined ? "This release does not offer it." : `You need the role ${role} to see this.`}
    </Empty>
  );
}

interface Loadable<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** The loading and error states of one query, then its data. */
export function Loaded<T>({
  query,
  what,
  children,
}: {
  query: Loadable<T>;
  what: string;
  children: (data: T) => ReactNode;
}): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return <Loading what={what} />;
}

function fieldsOf(refusal: CallError | undefined): { path: string; message: string }[] {
  const fields = refusal?.details.fields;
  if (!Array.isArray(fields)) return [];
  return fields.filter(
    (field): field is { path: string; message: string } =>
      typeof field === "object" &&
      field !== null &&
      typeof (field as { path?: unknown }).path === "string" &&
      typeof (field as { message?: unknown }).message === "string",
  );
}
