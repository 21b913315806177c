-- What owners decide about their keys: when they work, for which models, up to what amount in which period. And the secret
-- that a key had before, for as long as it still works beside the new one.

alter table api_key
  add column disabled_at timestamptz,                                          -- paused by its owner
  add column expires_at timestamptz,
  add column allowed_models text[],                                            -- ids of entries, and `family/*`; null: all
  add column limit_reset text default 'monthly',                               -- period of monthly_cap_micro_vnd, whatever that is called; null: it never starts anew
  add column counted_micro_vnd bigint not null default 0,                      -- charged on the days before counted_before
  add column counted_before date,                                              -- null: nothing is counted yet
  add column rotations integer not null default 0,
  add column rotated_at timestamptz,
  add column replaced_hash bytea,                                              -- of the secret before the last rotation
  add column replaced_pepper_id smallint,
  add column replaced_until timestamptz,
  -- Not valid: nobody waits while rows of before are read.
  add constraint api_key_limit_reset_check check (limit_reset in ('daily', 'weekly', 'monthly')) not valid,
  add constraint api_key_replaced_check check (num_nulls(replaced_hash, replaced_pepper_id, replaced_until) in (0, 3)) not valid;
create unique index api_key_replaced_hash on api_key (replaced_hash) where replaced_hash is not null;

-- The key that a secret opens, whatever its state. A string, so that columns of later versions are in it too.
create function key_by_hash(bytea) returns setof api_key language sql stable as $$
  select * from api_key where key_hash = $1
   union all
  select * from api_key where replaced_hash = $1 and replaced_until > now()
   limit 1
$$;

create function key_state(revoked_at timestamptz, suspended_at timestamptz, disabled_at timestamptz, expires_at timestamptz)
returns text language sql stable
return case when revoked_at is not null then 'revoked'
            when suspended_at is not null then 'blocked'
            when disabled_at is not null then 'disabled'
            when expires_at <= now() then 'expired'
            else 'active' end;

-- First day of the period, in Vietnam; weeks begin on Monday. Null where nothing starts anew.
create function limit_began(limit_reset text) returns date language sql stable
return case limit_reset when 'daily' then (now() at time zone 'Asia/Ho_Chi_Minh')::date
                        when 'weekly' then date_trunc('week', now() at time zone 'Asia/Ho_Chi_Minh')::date
                        when 'monthly' then date_trunc('month', now() at time zone 'Asia/Ho_Chi_Minh')::date end;

-- Of a key: its limit, what counts against it, what its calls in flight hold. Volatile, so that a statement that waited for
-- the wallet's lock sees what was done meanwhile.
create function key_standing(account bigint, key bigint) returns bigint[] language sql volatile as $$
  select array[
    monthly_cap_micro_vnd,
    case when limit_reset is null then counted_micro_vnd else 0 end + (
      select coalesce(sum(charged_micro_vnd), 0) from usage_daily daily
       where daily.account_id = account and daily.key_id = key
         and daily.day >= coalesce(limit_began(limit_reset), counted_before, '-infinity')),
    (select coalesce(sum(amount_micro_vnd), 0) from hold where hold.account_id = account and hold.key_id = key)]::bigint[]
    from api_key where account_id = account and key_id = key
$$;
