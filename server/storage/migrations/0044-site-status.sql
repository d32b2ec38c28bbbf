-- The metrics of the list of sites. The link updates the power, roll-ups the energy, a job the
-- revenue.
create table site_status (
  site_id text primary key references sites,
  -- sum over the inverters with a fresh reading, and the oldest of these readings
  ac_power_kw double precision,
  power_at timestamptz,
  -- the local day of the sums
  energy_date date,
  energy_today_kwh double precision,
  -- of the hours with expected energy
  compared_energy_kwh double precision,
  expected_energy_kwh double precision,
  energy_at timestamptz,
  -- the day of the market
  revenue_date date,
  revenue_timezone text,
  net_revenue double precision,
  currency text,
  revenue_at timestamptz
) with (fillfactor = 50);
