import { Button, Checkbox, Group, Modal, NativeSelect, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { call } from "../api/call";
import { isAllowed, ruleOf } from "../api/hooks";
import { type AnswerOf, type Method, type RequestOf, type ServiceName } from "../api/services";
import { type Proposal, ProposalFacts } from "./proposalFacts";
import { Failure } from "./states";

export interface Field {
  name: string;
  label: string;
  /** "lines" holds one value a line. A checkbox has the values "" and "yes". */
  kind?: "text" | "lines" | "checkbox" | "select";
  options?: readonly { value: string; label: string }[];
  description?: string;
  required?: boolean;
  initial?: string;
}

export type Values = Readonly<Record<string, string>>;

export interface Action<M extends Method> {
  method: M;
  /** The service to ask, for a method of wonrail.common.v1. */
  service?: ServiceName;
  label: string;
  /** What will happen, before the operator confirms. */
  consequence: ReactNode;
  fields?: readonly Field[];
  request: (values: Values) => RequestOf<M>;
  /** Shown after the action, for example a key that is shown once. */
  result?: (answer: AnswerOf<M>) => ReactNode;
  isDangerous?: boolean;
}

const MAX_REASON_LENGTH = 500;

/** A button with the dialog of its action. Operators without the role do not see it. */
export function ActionButton<M extends Method>(action: Action<M>): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isDone, setDone] = useState(false);
  const queries = useQueryClient();
  const { method, label, isDangerous } = action;
  if (!isAllowed(method)) return undefined;
  const close = () => {
    setOpen(false);
    // Not before: the new data may have no place for this button, and its dialog would go with it.
    if (isDone) void queries.invalidateQueries();
    setDone(false);
  };
  return (
    <>
      <Button
        size="compact-sm"
        variant={isDangerous ? "outline" : "default"}
        color={isDangerous ? "red" : "blue"}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} closeButtonProps={{ "aria-label": "Close" }}>
        {isOpen ? <Dialog action={action} done={() => setDone(true)} close={close} /> : undefined}
      </Modal>
    </>
  );
}

function Dialog<M extends Method>({
  action,
  done,
  close,
}: {
  action: Action<M>;
  done: () => void;
  close: () => void;
}): ReactNode {
  const { method, service, consequence, fields = [], label, isDangerous } = action;
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, initial = "" }) => [name, initial])),
  );
  const [reason, setReason] = useState("");
  const run = useMutation({
    mutationFn: () => call(method, action.request(values), { service, reason: reason.trim() }),
    onSuccess: done,
  });
  if (run.data !== undefined) return <Outcome action={action} answer={run.data} close={close} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Text size="sm" mb="sm">
        {consequence}
      </Text>
      <ApprovalNotice method={method} />
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={values[field.name] ?? ""}
          change={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      <Textarea
        label="Reason"
        description="For the audit trail."
        required
        data-autofocus={fields.length === 0 ? true : undefined}
        autosize
        minRows={2}
        maxLength={MAX_REASON_LENGTH}
        mb="sm"
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
      {run.error ? <Failure error={run.error} /> : undefined}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button
          type="submit"
          color={isDangerous ? "red" : "blue"}
          loading={run.isPending}
          disabled={reason.trim() === ""}
        >
          {label}
        </Button>
      </Group>
    </form>
  );
}

function ApprovalNotice({ method }: { method: Method }): ReactNode {
  const approval = ruleOf(method)?.approval;
  if (approval === undefined) return undefined;
  return (
    <Text size="sm" mb="sm" className="tone" data-tone="waits">
      {approval === "conditional"
        ? "If it raises a limit or ends a suspension, a second operator must approve it within 24 hours."
        : "A second operator must approve it within 24 hours. Until then nothing changes."}
    </Text>
  );
}

function Outcome<M extends Method>({
  action,
  answer,
  close,
}: {
  action: Action<M>;
  answer: AnswerOf<M>;
  close: () => void;
}): ReactNode {
  const { proposal } = answer as { proposal?: Proposal };
  return (
    <>
      <div role="status">
        <Text size="sm" fw={600} mb="sm">
          {proposal === undefined ? "Done." : "Proposed. Another operator must approve it."}
        </Text>
        {proposal === undefined ? action.result?.(answer) : <ProposalFacts proposal={proposal} />}
      </div>
      <Group justify="flex-end" mt="sm">
        <Button variant="default" onClick={close} data-autofocus>
          Close
        </Button>
      </Group>
    </>
  );
}

function FieldInput({
  field,
  value,
  change,
}: {
  field: Field;
  value: string;
  change: (value: string) => void;
}): ReactNode {
  const { label, description, required = false, kind = "text", options = [] } = field;
  const common = { label, description, mb: "sm" };
  switch (kind) {
    case "checkbox":
      return (
        <Checkbox
          {...common}
          checked={value !== ""}
          onChange={({ currentTarget }) => change(currentTarget.checked ? "yes" : "")}
        />
      );
    case "select":
      return (
        <NativeSelect
          {...common}
          required={required}
          value={value}
          data={options.map((option) => ({ ...option }))}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        />
      );
    case "lines":
      return (
        <Textarea
          {...common}
          required={required}
          autosize
          minRows={2}
          value={value}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        />
      );
    case "text":
      return (
        <TextInput
          {...common}
          required={required}
          value={value}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        />
      );
  }
}

/** The lines of a "lines" field, without empty ones. */
export function linesOf(text: string | undefined): string[] {
  return (text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
