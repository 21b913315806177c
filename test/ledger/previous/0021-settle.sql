with requests as materialized (select v, n, v[1]::bigint as account_id, v[2]::uuid as call_id, v[3]::bigint as key_id, v[8]::bigint as cost, v[14]::bigint as price_vnd, v[15]::smallint as price_per, v[17]::integer as latency_ms, v[20]::timestamptz as told_opened_at
           from (select string_to_array(line, '', '') as v, n
                   from unnest(string_to_array($1::text, '')) with ordinality as packed(line, n) offset 0) lines),
-- Those that agree with their call's hold, and when the call began.
settlements as materialized (
  select n, v, requests.account_id, call_id, cost, case when held.opened_at is null then now() - requests.latency_ms * interval '1 millisecond'
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
locked_wallets as materialized (
  select account_id from wallet where account_id in (select account_id from settlements)
   order by account_id for no key update),
deleted_holds as (
  delete from hold using settlements
   where hold.account_id = settlements.account_id and hold.call_id = settlements.call_id
     and (select count(*) from locked_wallets) > 0
  returning hold.account_id, hold.amount_micro_vnd),
-- What the batch takes from each wallet, and gives back to it.
wallet_sums as materialized (
  select account_id, sum(released)::bigint as released, sum(cost)::bigint as cost, sum(calls)::bigint as calls
    from (select account_id, amount_micro_vnd as released, 0::bigint as cost, 0 as calls from deleted_holds
          union all
          select account_id, 0, cost, 1 from settlements) parts
   group by account_id),
updated_wallets as (
  update wallet set
     balance_micro_vnd = wallet.balance_micro_vnd - least(wallet_sums.cost, wallet.balance_micro_vnd),
     held_micro_vnd    = wallet.held_micro_vnd - wallet_sums.released,
     seq               = wallet.seq + wallet_sums.calls
    from wallet_sums
   where wallet.account_id = wallet_sums.account_id and (select count(*) from locked_wallets) > 0
  returning wallet.account_id, old.balance_micro_vnd as balance, old.seq as seq,
            wallet.balance_micro_vnd as balance_now, wallet.balance_micro_vnd - wallet.held_micro_vnd as available_now),
-- Each wallet as it was, and behind it its calls.
wallets_and_calls as (
  select account_id, 0 as n, null::text[] as v, 0::bigint as cost, null::timestamptz as opened_at, balance, seq,
         balance_now, available_now from updated_wallets
  union all
  select account_id, n, v, cost, opened_at, null, null, null, null from settlements),
-- Each call beside its wallet, with what the calls before it cost.
calls as (
  select account_id, n, v, cost, opened_at, row_number() over its_wallet - 1 as place,
         (sum(cost) over its_wallet - cost)::bigint as cost_before, first_value(balance) over its_wallet as balance,
         first_value(seq) over its_wallet as seq_before, first_value(balance_now) over its_wallet as balance_now,
         first_value(available_now) over its_wallet as available_now
    from wallets_and_calls
  window its_wallet as (partition by account_id order by n rows unbounded preceding)),
charges as materialized (
  select account_id, n, v, cost, opened_at, seq_before + place as seq,
         greatest(0, least(cost, balance - cost_before))::bigint as charged,
         greatest(0, balance - cost_before - cost)::bigint as balance_after, balance_now, available_now
    from calls where n > 0 and balance is not null),
inserted_usage as (
  insert into usage (account_id, seq, opened_at, cost_micro_vnd, charged_micro_vnd, balance_after_micro_vnd,
                     call_id, key_id, entry_id, requested_name, endpoint, status, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, first_byte_ms, latency_ms, streamed, estimated, catalogue_id, extras_vnd, cache_write_tokens, upstream_cost_micro_vnd, attempts, error_code)
  select account_id, seq, opened_at, cost, charged, balance_after, v[2]::uuid as call_id, v[3]::bigint as key_id, v[4]::text as entry_id, v[5]::text as requested_name, v[6]::smallint as endpoint, v[7]::smallint as status, v[9]::bigint as input_tokens, v[10]::bigint as output_tokens, v[11]::bigint as cached_input_tokens, v[12]::bigint as reasoning_tokens, v[13]::integer as images, v[14]::bigint as price_vnd, v[15]::smallint as price_per, v[16]::integer as first_byte_ms, v[17]::integer as latency_ms, v[18]::boolean as streamed, v[19]::boolean as estimated, v[21]::integer as catalogue_id, v[22]::bigint as extras_vnd, v[23]::bigint as cache_write_tokens, v[24]::bigint as upstream_cost_micro_vnd, v[25]::jsonb as attempts, v[26]::text as error_code from charges),
-- Calls can be found by the ids that clients gave them.
inserted_requests as (
  insert into client_request (call_id, account_id, request_id)
  select call_id, account_id, request_id
    from (select account_id, v[2]::uuid as call_id, v[27]::text as request_id from charges) named_calls
   where request_id is not null),
-- The sums of the reports, by day of Vietnam.
updated_daily as (
  insert into usage_daily as daily (account_id, day, key_id, entry_id, calls, errors, input_tokens, output_tokens, images,
                                    cost_micro_vnd, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls)
  select account_id, (now() at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
         count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost), sum(charged),
         coalesce(sum(upstream_cost_micro_vnd), 0), count(upstream_cost_micro_vnd)
    from (select account_id, cost, charged, v[3]::bigint as key_id, v[4]::text as entry_id, v[7]::smallint as status, v[9]::bigint as input_tokens, v[10]::bigint as output_tokens, v[13]::integer as images, v[24]::bigint as upstream_cost_micro_vnd
            from charges) charged_calls
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, day, key_id, entry_id) do update set
         calls = daily.calls + excluded.calls, errors = daily.errors + excluded.errors,
         input_tokens = daily.input_tokens + excluded.input_tokens,
         output_tokens = daily.output_tokens + excluded.output_tokens,
         images = daily.images + excluded.images, cost_micro_vnd = daily.cost_micro_vnd + excluded.cost_micro_vnd,
         charged_micro_vnd = daily.charged_micro_vnd + excluded.charged_micro_vnd,
         upstream_cost_micro_vnd = daily.upstream_cost_micro_vnd + excluded.upstream_cost_micro_vnd,
         upstream_cost_calls = daily.upstream_cost_calls + excluded.upstream_cost_calls)
select array_agg(n)::text as n, array_agg(charged)::text as charged, array_agg(balance_after)::text as balance_after,
       array_agg(balance_now)::text as balance_now, array_agg(available_now)::text as available_now from charges
