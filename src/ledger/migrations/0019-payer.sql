-- Who paid, where the bank's service says so.

alter table bank_txn
  add column payer text check (octet_length(payer) <= 800);
