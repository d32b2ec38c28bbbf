-- Marks of hours whose sums have to be made anew: how often each was made, and from when on it is
-- dealt with.
alter table touched_hours
  add column touches bigint not null default 1,
  add column due_at timestamptz not null default now();
alter table touched_hours set (fillfactor = 50);
delete from touched_hours where kind not in ('inverter', 'string', 'weather');
create index touched_hours_summed on touched_hours (site_id, hour_at)
  where kind in ('inverter', 'string', 'weather');

-- What each inverter did in an hour, as sums that add up over hours and inverters.
create table inverter_hours (
  site_id text not null,
  inverter_id integer not null,
  hour_at timestamptz not null,
  covered_s double precision not null,
  daylight_covered_s double precision not null,
  ac_energy_kwh double precision not null,
  dc_energy_kwh double precision not null,
  night_consumption_kwh double precision not null,
  sun_covered_s double precision not null,
  insolation_kwh_m2 double precision not null,
  expected_energy_kwh double precision not null,
  conversion_dc_kwh double precision not null,
  conversion_ac_kwh double precision not null,
  conversion_expected_kwh double precision not null,
  reference_kwh_m2 double precision not null,
  reference_ac_kwh double precision not null,
  reference_expected_kwh double precision not null,
  warm_reference_kwh_m2 double precision not null,
  warm_reference_ac_kwh double precision not null,
  curtailed_reference_kwh_m2 double precision not null,
  curtailed_reference_ac_kwh double precision not null,
  demanded_s double precision not null,
  down_s double precision not null,
  downtime_loss_kwh double precision not null,
  clipped_s double precision not null,
  clipping_loss_kwh double precision not null,
  curtailed_s double precision not null,
  curtailment_loss_kwh double precision not null,
  derated_s double precision not null,
  derating_loss_kwh double precision not null,
  fault_s double precision not null,
  energy_source text,
  peak_power_kw double precision,
  -- by tenths of the DC rating
  load_s double precision[] not null,
  load_dc_kwh double precision[] not null,
  load_ac_kwh double precision[] not null,
  primary key (site_id, inverter_id, hour_at)
);
create index inverter_hours_at on inverter_hours (site_id, hour_at);

-- What the strings of an inverter did in an hour, and in a day at the site: a row of 4-byte floats
-- (little endian, NaN for null) for each quantity of the list in the program that wrote it, one
-- float for each string from 0 on. `layout` numbers that list.
create table string_hours (
  site_id text not null,
  inverter_id integer not null,
  hour_at timestamptz not null,
  string_count integer not null,
  layout smallint not null,
  sums bytea not null,
  primary key (site_id, inverter_id, hour_at)
);
create index string_hours_at on string_hours (site_id, hour_at);

create table string_days (
  site_id text not null,
  inverter_id integer not null,
  local_date date not null,
  string_count integer not null,
  layout smallint not null,
  sums bytea not null,
  primary key (site_id, inverter_id, local_date)
);
create index string_days_at on string_days (site_id, local_date);

-- What a plant was promised to yield, and what an inverter is said to convert.
alter table loggers add column guaranteed_performance_ratio_pct double precision;
alter table inverters add column nominal_efficiency_pct double precision;

-- A panel may be announced without the parameters of its circuit: the library may know them.
alter table panel_models
  alter column cells_in_series drop not null,
  alter column alpha_sc_a_per_c drop not null,
  alter column a_ref_v drop not null,
  alter column i_l_ref_a drop not null,
  alter column i_o_ref_a drop not null,
  alter column r_s_ohm drop not null,
  alter column r_sh_ref_ohm drop not null,
  alter column adjust_pct drop not null;
