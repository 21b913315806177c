-- Upstreams that an operator has taken out of service, in all processes, until a time.
create table upstream_out (
  upstream_id text primary key check (octet_length(upstream_id) <= 100),
  out_until   timestamptz not null,
  reason      text not null,
  by_name     text not null,
  since       timestamptz not null default now()
);

-- What the last audit found, whoever ran it.
create table audit_result (
  one         boolean primary key default true check (one),
  audited_at  timestamptz not null default now(),
  differences jsonb not null                                                   -- count by rule
);
