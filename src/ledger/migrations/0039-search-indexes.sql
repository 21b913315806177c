-- Operators' searches find addresses and references by their beginning, and transfers by amount and rare state, without reading
-- every row. `text_pattern_ops` finds the beginning of a text under every collation.
create index account_email_start on account (email_key text_pattern_ops, account_id);
create index bank_txn_amount on bank_txn (amount_vnd, bank_txn_id);
create index bank_txn_bank_ref_start on bank_txn (lower(bank_ref) text_pattern_ops, bank_txn_id) where bank_ref is not null;
create index bank_txn_provider_ref_start on bank_txn (lower(provider_ref) text_pattern_ops, bank_txn_id);
create index bank_txn_order_start on bank_txn (lower(order_code) text_pattern_ops, bank_txn_id) where order_code is not null;
create index bank_txn_settled on bank_txn (state, bank_txn_id) where state > 2;
