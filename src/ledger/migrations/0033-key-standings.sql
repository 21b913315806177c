-- key_standing of many keys at once: the table of holds is read once, not once per key. Each key at most once. Volatile for the
-- same reason.
create function key_standings(accounts bigint[], keys bigint[])
returns table (account_id bigint, key_id bigint, standing bigint[]) language sql volatile rows 50 as $$
  select k.account_id, k.key_id, array[
    k.monthly_cap_micro_vnd,
    case when k.limit_reset is null then k.counted_micro_vnd else 0 end + (
      select coalesce(sum(charged_micro_vnd), 0) from usage_daily daily
       where daily.account_id = given.account and daily.key_id = given.key
         and daily.day >= coalesce(limit_began(k.limit_reset), k.counted_before, '-infinity')),
    coalesce(held.micro_vnd, 0)]::bigint[]
    from unnest(accounts, keys) as given (account, key)
    join api_key k on k.account_id = given.account and k.key_id = given.key
    left join (
      select hold.account_id, hold.key_id, sum(amount_micro_vnd) as micro_vnd from hold
       where hold.key_id in (select unnest(keys)) group by hold.account_id, hold.key_id) held
      on held.account_id = given.account and held.key_id = given.key
$$;
