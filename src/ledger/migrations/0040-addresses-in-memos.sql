-- Finds the address that a memo contains, as banks write it: letters and digits only.
create index account_squeezed on account (upper(regexp_replace(email, '[^A-Za-z0-9]', '', 'g')) text_pattern_ops);
