-- Which database this is, so that the spool of another one is never replayed into it; and what gateways set aside of theirs.

create table database_identity (                                               -- one row, made once; a backup brings its own
  one         boolean primary key default true check (one),
  database_id uuid not null default gen_random_uuid()
);
insert into database_identity default values;

create table spool_set_aside (                                                 -- a row per spool that has something for an operator to look at
  name    text primary key,                                                    -- of the process whose spool it is
  folder  text not null,
  lines   integer not null check (lines >= 0),                                 -- damaged or unproven ones
  files   integer not null check (files >= 0),                                 -- those that belong to another database
  seen_at timestamptz not null default now()
);
