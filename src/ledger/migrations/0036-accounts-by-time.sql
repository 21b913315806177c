-- New customers of a period, without reading every account.
create index account_created on account (created_at);
