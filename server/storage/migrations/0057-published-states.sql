-- What was published last: the end of a schedule, the health of a site.
--
-- Lock: both tables, ACCESS EXCLUSIVE, for milliseconds. Ends of earlier schedules count as
-- published.
alter table battery_schedules add column end_published boolean not null default true;
alter table battery_schedules alter column end_published set default false;
create index battery_schedules_to_end on battery_schedules (site_id, target_date)
  where state = 'approved' and not end_published;
alter table site_status add column health_status text;
