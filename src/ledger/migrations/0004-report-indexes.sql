-- What reports over all accounts look up by day.

create index usage_daily_day on usage_daily (day);                             -- not on the path of a settlement: a row's day never changes
create index credit_at on credit (at);
