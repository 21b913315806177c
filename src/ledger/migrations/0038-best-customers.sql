-- The customers who paid most on a day, and what was credited in a period, read from the index alone.
create index account_daily_best on account_daily (day, charged_micro_vnd desc, account_id);
create index credit_time on credit (at) include (kind, amount_micro_vnd);
drop index credit_at;
