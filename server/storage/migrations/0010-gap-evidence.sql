-- Gaps of meters and sensor nodes, and of what a jump in the numbers of frames tells.

-- null for what belongs to the site as a whole: the meter at its grid connection, many a node
alter table gaps alter column logger_id drop not null;

drop index touched_hours_summed;
create index touched_hours_summed on touched_hours (site_id, hour_at)
  where kind in ('inverter', 'string', 'weather', 'meter', 'node');

-- When the newest reading of a frame was measured; null for a frame without readings.
alter table link_frames add column newest_at timestamptz;

-- Whoever tells gaps asks after which instants something was lost.
create index events_frames_missing on events (site_id, at) where code = 'frames_missing';
