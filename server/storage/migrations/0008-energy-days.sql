-- The hours of each logger in a day of UTC as one value, to be read for many loggers over months:
-- a record for each row of `logger_hours`, by the hour, of nine 8-byte floats, big endian, NaN for
-- null. They are the hour (Unix time, in hours), the source (0 for none, 1 inverter_counter, 2
-- integrated_power, 3 counter_over_gap, 4 mixed), the inverters in service, the energy, the
-- estimate in it, the seconds measured while the inverters must be awake and in light, the
-- expectation, and what limits cost. Written in the transaction that writes the hours.
create table logger_days (
  site_id text not null,
  logger_id integer not null,
  day_at timestamptz not null,
  hours bytea not null,
  primary key (site_id, logger_id, day_at)
);
create index logger_days_at on logger_days (site_id, day_at);

insert into logger_days (site_id, logger_id, day_at, hours)
select site_id, logger_id, date_trunc('day', hour_at, 'UTC'),
  string_agg(
    float8send((extract(epoch from hour_at) / 3600)::float8)
      || float8send(coalesce(array_position(
        '{inverter_counter,integrated_power,counter_over_gap,mixed}', energy_source), 0)::float8)
      || float8send(inverter_count::float8)
      || float8send(coalesce(energy_kwh, 'NaN'))
      || float8send(estimated_energy_kwh)
      || float8send(awake_covered_s)
      || float8send(sun_covered_s)
      || float8send(coalesce(expected_energy_kwh, 'NaN'))
      || float8send(coalesce(curtailment_loss_kwh, 'NaN')),
    ''::bytea order by hour_at)
from logger_hours
group by 1, 2, 3;
