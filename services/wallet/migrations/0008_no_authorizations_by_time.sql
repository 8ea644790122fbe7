-- no-transaction
-- No statement of any release looks for authorizations by their time; and a row of which no index has what changes is written in its place when it is signed again.
drop index concurrently if exists authorizations_by_time;
