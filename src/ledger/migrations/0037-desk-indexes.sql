-- Operators and orders, found without reading every account and every order. `text_pattern_ops` finds the beginning of a text
-- under every collation.
create index account_operator on account (account_id) where is_operator;
create index topup_order_start on topup_order (order_code text_pattern_ops);
create index topup_order_waiting on topup_order (expires_at) where paid_vnd = 0 and cancelled_at is null;
create index topup_order_cancelled on topup_order (created_at, order_code) where paid_vnd = 0 and cancelled_at is not null;
