-- Filters of the usage page are read from the index of usage_hourly alone, as far as vacuum has visited the table. By default, it waits
-- until the table has grown by a fifth, which can take months.
alter table usage_hourly set (autovacuum_vacuum_insert_scale_factor = 0.02);
