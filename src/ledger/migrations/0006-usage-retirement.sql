-- Usage rows may be retired after a time; what they add up to stays.

create table usage_retired (                                                   -- one row per account that has retired rows
  account_id              bigint primary key,
  upto_seq                bigint not null check (upto_seq > 0),                -- usage rows up to this one are gone; it was the last of them
  balance_after_micro_vnd bigint not null check (balance_after_micro_vnd >= 0), -- after that row: where the journal goes on
  calls                   bigint not null check (calls > 0),
  errors                  bigint not null,
  input_tokens            bigint not null,
  output_tokens           bigint not null,
  images                  bigint not null,
  cost_micro_vnd          bigint not null,
  charged_micro_vnd       bigint not null,
  retired_at              timestamptz not null default now()
);

-- A call that is settled later than this is refused, so that one whose row is gone cannot be charged again.
alter table usage add constraint usage_settled_in_time check (closed_at < opened_at + interval '90 days') not valid;

create or replace trigger usage_append_only before update or truncate on usage
  for each statement execute function refuse_change();

create function refuse_unretired() returns trigger language plpgsql as $$
begin
  if exists (select from gone left join usage_retired r using (account_id) where gone.seq > coalesce(r.upto_seq, 0)) then
    raise exception 'usage is append-only: only retired rows may be deleted' using errcode = '42501';
  end if;
  return null;
end
$$;
create trigger usage_deleted_when_retired after delete on usage referencing old table as gone
  for each statement execute function refuse_unretired();
