-- Operations that the chain had executed before their turn came (by a copy of this system, or before this database was restored): the planner has to
-- pass over them, or everything behind them on the same accounts waits for ever.
create index operations_settled_early on operations (org_id, created_at) where state = 'CONFIRMED' and turn is null;
