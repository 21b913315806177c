-- Holds are placed without reading the key as long as no key of the account has changed since a process read it. The version
-- grows by a random number, so that no version of a lost history (a failover, a restore) comes back with other keys.

alter table wallet add column keys_version bigint not null default 0;

create function note_key_change() returns trigger language plpgsql as $$
begin
  update wallet set keys_version = keys_version + 1 + floor(random() * 1000000)::bigint where account_id = old.account_id;
  return null;
end $$;

-- Every column that decides whether a key may make a call. Not those of a secret that is being replaced: such a secret is never
-- used without reading the key.
create trigger key_changed
  after update of key_hash, revoked_at, suspended_at, disabled_at, expires_at, allowed_models, monthly_cap_micro_vnd, limit_reset
     or delete on api_key
  for each row execute function note_key_change();

-- For a statement that has found fewer rows than it must: fails it, so that all that it did is undone.
create function must_be(actual bigint, expected bigint) returns boolean language plpgsql as $$
begin
  if actual is distinct from expected then
    raise exception 'found % of % rows', actual, expected using errcode = 'GW001';
  end if;
  return true;
end $$;
