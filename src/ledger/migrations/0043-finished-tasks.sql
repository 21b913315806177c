-- When a task of the housekeeping last ended without an error. `ran_at` is taken before the task runs, so it stays fresh while
-- every run fails.
alter table housekeeping add column finished_at timestamptz not null default now();
