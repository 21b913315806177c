-- Which mails went to whom: no text, which may hold a link.

create table mail_sent (
  mail_id   bigint generated always as identity primary key,
  email     text not null check (octet_length(email) <= 254),
  email_key text generated always as (lower(email)) stored,
  subject   text not null check (octet_length(subject) <= 800),
  failed    boolean not null,                                                  -- the server did not take it
  sent_at   timestamptz not null default now()
);
create index mail_sent_email on mail_sent (email_key, mail_id);
create index mail_sent_at on mail_sent (sent_at);
