-- How far the readings of weeks have been thinned, and the hours that are thereby final.

-- Weeks whose readings make no sums and no gaps any more. Whoever makes some reads this table in the
-- same transaction, and whoever adds a week locks it: nobody is still at it then.
create table final_weeks (
  -- Monday 00:00 UTC
  week_at timestamptz primary key
);

-- Weekly partitions of which each device has at most one reading in so many seconds, but for those
-- that came later.
create table thinned_partitions (
  -- 'inverter_readings_20261116'
  name text primary key,
  step_s integer not null
);

-- Devices of which readings came while their week was being thinned.
create table late_devices (
  site_id text not null,
  device_id integer not null,
  -- the partition
  name text not null,
  primary key (site_id, device_id, name)
);

-- Fires only in partitions that are being thinned; its argument is the column of the device.
create function note_late_device() returns trigger language plpgsql as $$
begin
  insert into late_devices (site_id, device_id, name)
  values (new.site_id, (to_jsonb(new) ->> tg_argv[0])::integer, tg_table_name)
  on conflict do nothing;
  return null;
end
$$;
