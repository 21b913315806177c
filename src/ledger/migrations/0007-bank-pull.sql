-- How asking a service for its transactions went.

create table bank_pull (
  source      text primary key,
  finished_at timestamptz,                                                     -- the last time that all were read
  fault       text                                                             -- why the last time failed; null: it did not
);
