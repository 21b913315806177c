-- As gateways ran it whose last migration was 0014.
with requests as materialized (
  select * from unnest(
      $1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[],
      $7::smallint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
      $12::bigint[], $13::integer[], $14::bigint[], $15::smallint[],
      $16::integer[], $17::integer[], $18::boolean[], $19::boolean[], $20::timestamptz[], $21::integer[], $22::bigint[])
    with ordinality as r(account_id, call_id, key_id, entry_id, requested_name, endpoint,
      status, cost, input_tokens, output_tokens, cached_input_tokens,
      reasoning_tokens, images, price_vnd, price_per,
      first_byte_ms, latency_ms, streamed, estimated, told_opened_at, catalogue_id, extras_vnd, n)),
r as materialized (
  select requests.*, case when held.opened_at is null then now() - requests.latency_ms * interval '1 millisecond'
           else greatest(held.opened_at, now() - interval '89 days') end as opened_at
    from requests
    left join lateral (
      select account_id, key_id, price_vnd, price_per, opened_at from hold
       where hold.call_id = requests.call_id limit 1) held on true
   where case when held.account_id is null then
                requests.cost = 0 or (requests.told_opened_at > now() - interval '90 days' and not exists (
                  select from usage where usage.call_id = requests.call_id and usage.account_id <> requests.account_id))
           else held.account_id = requests.account_id and held.key_id = requests.key_id
            and (requests.cost = 0 or held.price_vnd is null
                 or (held.price_vnd = requests.price_vnd and held.price_per = requests.price_per)) end),
w as materialized (
  select account_id from wallet where account_id in (select account_id from r)
   order by account_id for no key update),
d as (
  delete from hold h using r
   where h.account_id = r.account_id and h.call_id = r.call_id and (select count(*) from w) > 0
  returning h.account_id, h.amount_micro_vnd),
t as materialized (
  select account_id, sum(released)::bigint as released, sum(cost)::bigint as cost, sum(k)::bigint as k
    from (select account_id, amount_micro_vnd as released, 0::bigint as cost, 0 as k from d
          union all
          select account_id, 0, cost, 1 from r) y
   group by account_id),
upd as (
  update wallet set
     balance_micro_vnd = wallet.balance_micro_vnd - least(t.cost, wallet.balance_micro_vnd),
     held_micro_vnd    = wallet.held_micro_vnd - t.released,
     seq               = wallet.seq + t.k
    from t where wallet.account_id = t.account_id and (select count(*) from w) > 0
  returning wallet.account_id, old.balance_micro_vnd as balance, old.seq as seq,
            wallet.balance_micro_vnd as balance_now, wallet.balance_micro_vnd - wallet.held_micro_vnd as available_now),
z as (
  select account_id, null::uuid as call_id, null::bigint as key_id, null as entry_id, null as requested_name,
         null::smallint as endpoint, null::smallint as status, 0::bigint as cost, null::bigint as input_tokens,
         null::bigint as output_tokens, null::bigint as cached_input_tokens, null::bigint as reasoning_tokens,
         null::integer as images, null::bigint as price_vnd, null::smallint as price_per, null::integer as first_byte_ms,
         null::integer as latency_ms, null::boolean as streamed, null::boolean as estimated,
         null::timestamptz as told_opened_at, null::integer as catalogue_id, null::bigint as extras_vnd, 0 as n, null::timestamptz as opened_at,
         balance, seq, balance_now, available_now from upd
  union all
  select r.*, null, null, null, null from r),
q as (
  select account_id, call_id, key_id, entry_id, requested_name, endpoint, status, cost, input_tokens, output_tokens,
         cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, first_byte_ms, latency_ms, streamed, estimated,
         opened_at, catalogue_id, extras_vnd, n, row_number() over p - 1 as k, (sum(cost) over p - cost)::bigint as before,
         first_value(balance) over p as balance, first_value(seq) over p as seq_before,
         first_value(balance_now) over p as balance_now, first_value(available_now) over p as available_now
    from z window p as (partition by account_id order by n rows unbounded preceding)),
c as materialized (
  select *, seq_before + k as seq, greatest(0, least(cost, balance - before))::bigint as charged,
         greatest(0, balance - before - cost)::bigint as balance_after
    from q where n > 0 and balance is not null),
u as (
  insert into usage (account_id, seq, call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens,
                     cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
                     balance_after_micro_vnd, first_byte_ms, latency_ms, streamed, estimated, opened_at, catalogue_id, extras_vnd)
  select account_id, seq, call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens,
         cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost, charged,
         balance_after, first_byte_ms, latency_ms, streamed, estimated, opened_at, catalogue_id, extras_vnd from c),
x as (
  insert into usage_daily as t (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
                                cost_micro_vnd, charged_micro_vnd)
  select account_id, (now() at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
         count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost), sum(charged)
    from c group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, day, key_id, entry_id) do update set
         calls = t.calls + excluded.calls, errors = t.errors + excluded.errors,
         input_tokens = t.input_tokens + excluded.input_tokens, output_tokens = t.output_tokens + excluded.output_tokens,
         images = t.images + excluded.images, cost_micro_vnd = t.cost_micro_vnd + excluded.cost_micro_vnd,
         charged_micro_vnd = t.charged_micro_vnd + excluded.charged_micro_vnd)
select array_agg(n)::text as n, array_agg(charged)::text as charged, array_agg(balance_after)::text as balance_after,
       array_agg(balance_now)::text as balance_now, array_agg(available_now)::text as available_now from c
