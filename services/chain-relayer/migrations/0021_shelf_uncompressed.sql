-- Compressing costs twice what writing it does, at the very time that the shelf is to save, and what is there goes again soon.
alter table shelved_entries alter column events set storage external;
