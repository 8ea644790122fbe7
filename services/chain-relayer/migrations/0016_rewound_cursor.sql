-- From where an operator had the cursor go back, the furthest that it ever was: until it is there again, the sums of the movements are those of a later
-- block than its own. The release before leaves both as they are.
alter table scan_cursor
  add column rewound_from_number bigint,
  add column rewound_from_hash text,
  add constraint scan_cursor_rewound_from_has_hash check ((rewound_from_number is null) = (rewound_from_hash is null));
