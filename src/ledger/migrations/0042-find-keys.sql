-- Operators find a key by its number or its last characters without reading all keys.
create index api_key_number on api_key (key_id);
create index api_key_last4 on api_key (last4);
