-- When the books were found to agree again where they differed. A difference that comes back after that is another one, of whatever sum.
alter table drifts add column resolved_at timestamptz;
