-- Writes down the answers of a batch and gives how many found their operation. An answer that is there already stays: the table's CHECK refuses to go without one.
-- A function, since it is planned once for each session and always walks the key: as a statement it was planned for each batch, which took as long as a fifth of
-- doing it, and named, for the table as it was when the session began, which may have been small enough to be read as a whole.
create function save_answers(org_ids text[], operation_ids text[], states text[], answers bytea[]) returns integer
  language plpgsql
  set search_path from current
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
as $$
declare
  saved integer;
begin
  update operations set state = done.state, answer = case when operations.answer is null then done.answer end, updated_at = now()
  from (
    select * from unnest(org_ids, operation_ids, states, answers) as done (org_id, operation_id, state, answer)
    order by org_id, operation_id) as done
  where operations.org_id = done.org_id and operations.operation_id = done.operation_id;
  get diagnostics saved = row_count;
  return saved;
end
$$;
