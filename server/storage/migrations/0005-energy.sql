-- What the energy of an hour stands on: how many samples, how much of the time in which an inverter
-- must be awake (sun 3 degrees above the horizon), from when to when it delivered, its mean power
-- in each five minutes, and the counter where the hour begins and ends to tell. Hours that were
-- summed up before have none of it: they stay null until they are summed up again, and their
-- coverage counts by `daylight_covered_s`.
alter table inverter_hours
  add column sample_count integer,
  add column awake_covered_s double precision,
  add column first_production_at timestamptz,
  add column last_production_at timestamptz,
  add column slot_power_kw double precision[],
  -- the first and the last reading of the counter within the hour
  add column counter_first_at timestamptz,
  add column counter_first_kwh double precision,
  add column counter_last_at timestamptz,
  add column counter_last_kwh double precision,
  -- by power, and part of `ac_energy_kwh`: before the first and after the last of them
  add column head_kwh double precision,
  add column head_covered_s double precision,
  add column tail_kwh double precision,
  add column tail_covered_s double precision;

-- Energy that the counter of an inverter tells of a gap and nobody measured hour by hour, shared
-- out to the hours that the gap touches; beside `ac_energy_kwh`, never in it. Two gaps may touch
-- one hour.
create table inverter_gap_hours (
  site_id text not null,
  inverter_id integer not null,
  hour_at timestamptz not null,
  -- the counter was read then for the last time before the gap
  gap_start_at timestamptz not null,
  energy_kwh double precision not null,
  primary key (site_id, inverter_id, gap_start_at, hour_at)
);
create index inverter_gap_hours_at on inverter_gap_hours (site_id, hour_at, inverter_id);

-- What the inverters of each logger (plant) did in an hour together: made of the two tables above
-- whenever one of their rows changes, to be read for many loggers over months.
create table logger_hours (
  site_id text not null,
  logger_id integer not null,
  hour_at timestamptz not null,
  -- in service, and those of them whose energy is known
  inverter_count integer not null,
  known_count integer not null,
  -- null where no inverter is known; the estimate is part of it
  energy_kwh double precision,
  estimated_energy_kwh double precision not null,
  energy_source text,
  sample_count integer,
  awake_covered_s double precision not null,
  sun_covered_s double precision not null,
  -- null where no met station was heard
  expected_energy_kwh double precision,
  curtailment_loss_kwh double precision,
  insolation_kwh_m2 double precision,
  peak_power_kw double precision,
  peak_power_at timestamptz,
  first_production_at timestamptz,
  last_production_at timestamptz,
  primary key (site_id, logger_id, hour_at)
);
create index logger_hours_at on logger_hours (site_id, hour_at);

insert into logger_hours (site_id, logger_id, hour_at, inverter_count, known_count, energy_kwh,
  estimated_energy_kwh, energy_source, awake_covered_s, sun_covered_s, expected_energy_kwh,
  curtailment_loss_kwh, insolation_kwh_m2)
select h.site_id, i.logger_id, h.hour_at,
  (select count(*) from inverters o
   where o.site_id = h.site_id and o.logger_id = i.logger_id
     and (o.retired_at is null or o.retired_at > h.hour_at)),
  count(h.energy_source),
  sum(h.ac_energy_kwh) filter (where h.energy_source is not null), 0,
  case count(distinct h.energy_source) when 0 then null when 1 then min(h.energy_source)
    else 'mixed' end,
  sum(h.daylight_covered_s), sum(h.sun_covered_s),
  sum(h.expected_energy_kwh) filter (where h.sun_covered_s > 0),
  sum(h.curtailment_loss_kwh) filter (where h.sun_covered_s > 0),
  sum(h.insolation_kwh_m2 * i.dc_capacity_kwp) filter (where h.sun_covered_s > 0)
    / nullif(sum(i.dc_capacity_kwp) filter (where h.sun_covered_s > 0), 0)
from inverter_hours h
join inverters i on i.site_id = h.site_id and i.inverter_id = h.inverter_id
group by h.site_id, i.logger_id, h.hour_at;
