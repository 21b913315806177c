-- As gateways ran it whose last migration was 0004.
with r as materialized (
  select * from unnest($1::text[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[])
    with ordinality as r(hash_hex, call_id, want, entry_id, requested_name, endpoint, n)),
k as materialized (
  select r.*, a.account_id, a.key_id, h.amount_micro_vnd as had,
         (a.key_id is not null and a.revoked_at is null and a.suspended_at is null) as active,
         case when a.monthly_cap_micro_vnd is null or h.amount_micro_vnd is not null then false else
           a.monthly_cap_micro_vnd <= (
             select coalesce(sum(d.charged_micro_vnd), 0) from usage_daily d
              where d.account_id = a.account_id and d.key_id = a.key_id
                and d.day >= date_trunc('month', now() at time zone 'Asia/Ho_Chi_Minh')::date) end as capped
    from r
    left join api_key a on a.key_hash = decode(r.hash_hex, 'hex')
    left join lateral (
      select amount_micro_vnd from hold where hold.account_id = a.account_id and hold.call_id = r.call_id limit 1) h on true),
w as materialized (
  select account_id from wallet where account_id in (select account_id from k where active and not capped)
   order by account_id for no key update),
s as materialized (
  select account_id, array_agg(upto) as sums
    from (select account_id, sum(want) over (partition by account_id order by n)::bigint as upto
            from k where active and had is null and not capped) t
   group by account_id),
upd as (
  update wallet set held_micro_vnd = wallet.held_micro_vnd + coalesce(
      (select max(upto) from unnest(s.sums) as upto where upto <= wallet.balance_micro_vnd - wallet.held_micro_vnd),
      case when wallet.held_micro_vnd = 0 then wallet.balance_micro_vnd else 0 end)
    from s where wallet.account_id = s.account_id and (select count(*) from w) > 0
  returning wallet.account_id, old.balance_micro_vnd as balance,
            old.balance_micro_vnd - old.held_micro_vnd as available, old.held_micro_vnd as held),
z as (
  select account_id, 0 as n, null::uuid as call_id, null::bigint as key_id, null as entry_id, null as requested_name,
         null::smallint as endpoint, 0::bigint as want, balance, available, held from upd
  union all
  select account_id, n, call_id, key_id, entry_id, requested_name, endpoint, want, null, null, null
    from k where active and had is null and not capped),
f as (
  select z.account_id, n, call_id, key_id, entry_id, requested_name, endpoint, want, (sum(want) over p)::bigint as upto,
         first_value(balance) over p as balance, first_value(available) over p as available, first_value(held) over p as held
    from z window p as (partition by z.account_id order by n rows unbounded preceding)),
g as materialized (
  select *, case when upto <= available then want when upto = want and held = 0 then available else 0 end as granted
    from f where n > 0 and balance is not null),
ins as (
  insert into hold (account_id, call_id, key_id, entry_id, requested_name, endpoint, amount_micro_vnd, instance_id)
  select account_id, call_id, key_id, entry_id, requested_name, endpoint, granted, $7::text::bigint from g where granted > 0)
select n::integer, true as active, false as capped, account_id, key_id, balance, nullif(granted, 0) as held from g
union all
select n::integer, active, capped, account_id, key_id, null, had from k where not active or had is not null or capped
