-- Readings of a device in an hour as one compressed block, of the kinds of readings that are packed.

create table reading_blocks (
  site_id text not null,
  -- a kind of `readingKinds`
  kind text not null,
  device_id integer not null,
  hour_at timestamptz not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  reading_count integer not null,
  -- One reading in so many seconds, but for those that came later; null: every reading.
  resolution_s integer,
  -- Readings of strings: first string, number of strings and number of readings of each range.
  ranges integer[],
  -- the form of the content
  layout smallint not null,
  content bytea not null,
  primary key (site_id, kind, device_id, hour_at)
);
-- It is compressed already.
alter table reading_blocks alter column content set storage external;

-- Readings before this instant are in blocks, or in rows if they came later: their partitions go.
create table packed_before (
  before_at timestamptz primary key,
  -- Partitions go only once no reader knows an earlier instant.
  announced_at timestamptz not null
);

-- Weeks without rows took no late readings; now late readings become blocks. Their sums are final.
do $$
declare
  closed record;
begin
  for closed in
    select parent.relname as table_name, child.relname as name,
      substring(pg_get_expr(child.relpartbound, child.oid) from 'TO \(''([^'']+)''\)')::timestamptz as ended_at
    from pg_inherits
      join pg_class child on child.oid = inhrelid
      join pg_class parent on parent.oid = inhparent
    where child.relname in ('inverter_readings_closed', 'string_readings_closed')
  loop
    insert into final_weeks (week_at)
    select week_at
    from generate_series(
      date_trunc('week', coalesce((select min(hour_at) from inverter_hours), closed.ended_at), 'UTC'),
      closed.ended_at - interval '7 days', '7 days') as week_at
    on conflict do nothing;
    execute format('drop table %I', closed.name);
  end loop;
end
$$;
