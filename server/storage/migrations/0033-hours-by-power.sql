-- The hours whose energy the counter of the inverter did not tell alone: few, and looked up for the
-- energy of today.
create index inverter_hours_by_power on inverter_hours (site_id, hour_at)
  where energy_source <> 'inverter_counter';
