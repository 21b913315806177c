-- How far the audit has proven each wallet, so that the next one reads what came after. Not the base of a full audit.
create table audit_point (
  account_id                  bigint primary key,
  seq                         bigint not null,                                 -- of the wallet: every journal row up to it is proven
  balance_micro_vnd           bigint not null,
  retired_seq                 bigint not null,                                 -- rows up to it were retired then; 0: none
  calls                       bigint not null,
  uncollected_micro_vnd       bigint not null,
  days_from                   date not null,                                   -- days before it were over; what follows are the sums
  day_calls                   bigint not null,                                 -- of the proven calls since then
  day_errors                  bigint not null,
  day_input_tokens            bigint not null,
  day_output_tokens           bigint not null,
  day_images                  bigint not null,
  day_cost_micro_vnd          bigint not null,
  day_charged_micro_vnd       bigint not null,
  day_upstream_cost_micro_vnd bigint not null,
  day_upstream_cost_calls     bigint not null
) with (fillfactor = 80);

-- The last full audit: when, what it found, and what must be the same for points to hold.
alter table audit_result
  add column full_at          timestamptz,
  add column full_differences jsonb,
  add column full_basis       jsonb;
