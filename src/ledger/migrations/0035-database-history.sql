-- Which histories this database has had, so that what a restore brings back is recognised: holds that had been settled are not
-- freed before the spools of the lost time have been replayed. A failover or recovery has a new timeline of Postgres, and a
-- restored backup file has no row yet.

create table database_timeline (
  timeline text primary key,                                                   -- of Postgres, as in the names of its WAL files
  begun_at timestamptz not null default now()                                  -- -infinity: before histories were written down
);
insert into database_timeline values (substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), '-infinity');

-- The history that the database is in; no row: one that no process has seen yet.
create view database_history as
select timeline || case when isfinite(begun_at) then '.' || (extract(epoch from begun_at) * 1000)::bigint else '' end as history,
       begun_at
  from database_timeline where timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
