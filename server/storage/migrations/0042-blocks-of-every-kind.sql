-- Readings of every kind become blocks, and their rows are no longer thinned.

-- Each kind has bounds of its own: until now only these two had blocks.
alter table packed_before add column kind text;
alter table packed_before drop constraint packed_before_pkey;
update packed_before set kind = 'inverter';
insert into packed_before (kind, before_at, announced_at)
  select 'string', before_at, announced_at from packed_before;
alter table packed_before add primary key (kind, before_at);

-- Every kind has marks now, which tell of rows that no block holds yet.
drop index touched_hours_summed;
create index touched_hours_hour on touched_hours (site_id, hour_at);

-- Weeks that were being thinned stay whole; `thinned_partitions` tells of those that were thinned.
do $$
declare
  aside record;
begin
  for aside in
    select oid::regclass as name from pg_class
    where relkind = 'r' and relname ~ '_readings_[0-9]{8}_every_[0-9]+s$'
  loop
    execute format('drop table %s', aside.name);
  end loop;
end
$$;
drop function note_late_device() cascade;
drop table late_devices;
