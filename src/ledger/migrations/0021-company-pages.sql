-- The line that operators show to everybody, and to whom invoices are made out.

create table banner (                                                          -- none or one row
  singleton  boolean primary key default true check (singleton),
  text_vi    text not null check (char_length(text_vi) <= 300),
  text_en    text not null check (char_length(text_en) <= 300),
  until      timestamptz not null,
  changed_at timestamptz not null default now()
);

create table invoice_details (
  account_id bigint primary key,
  name       text not null check (char_length(name) <= 200),                   -- of the company or the person
  tax_code   text not null check (char_length(tax_code) <= 20),                -- '': none
  address    text not null check (char_length(address) <= 300),
  email      text not null check (octet_length(email) <= 254),
  wanted     boolean not null,                                                 -- false: sold to a consumer without details
  changed_at timestamptz not null default now()
);

alter table bank_txn
  add column buyer jsonb;                                                      -- invoice details as they stood when it was credited; null: none wanted
