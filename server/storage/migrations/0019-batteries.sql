-- Batteries: the units, their power conversion systems, clusters and cells, and what they measured.

create table batteries (
  site_id text not null references sites,
  bess_id integer not null,
  name text not null,
  location_id integer,
  logger_id integer,
  manufacturer text,
  model text,
  serial_number text,
  chemistry text not null,
  coupling text not null,
  rated_energy_kwh double precision not null,
  usable_energy_kwh double precision,
  rated_charge_power_kw double precision not null,
  rated_discharge_power_kw double precision not null,
  rated_capacity_ah double precision,
  nominal_voltage_v double precision,
  roundtrip_efficiency_pct double precision,
  soc_min_pct double precision not null,
  soc_max_pct double precision not null,
  soc_reserve_pct double precision,
  ramp_rate_kw_s double precision,
  -- as in site.yaml
  power_curve jsonb,
  cycles_per_day_max double precision,
  degradation_cost_per_mwh double precision,
  market_code text,
  cluster_count integer not null,
  modules_per_cluster integer not null,
  cells_per_module integer not null,
  temperature_sensors_per_module integer,
  commissioned_date date,
  warranty_end_date date,
  warranty_throughput_kwh double precision,
  warranty_cycles double precision,
  -- as in site.yaml: index and rating of each power conversion system
  pcs jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  retired_at timestamptz,
  primary key (site_id, bess_id)
);

-- What each unit is set to, as it was read last.
create table battery_setups (
  site_id text not null references sites,
  bess_id integer not null,
  read_at timestamptz not null,
  -- when it was first read as it is now
  changed_at timestamptz not null,
  setup jsonb not null,
  primary key (site_id, bess_id)
);

create table bess_readings (
  site_id text not null,
  bess_id integer not null,
  measured_at timestamptz not null,
  quality text not null,
  state text,
  state_vendor_code integer,
  power_kw real,
  setpoint_kw real,
  soc_pct real,
  soh_pct real,
  available_energy_kwh real,
  energy_to_full_kwh real,
  dc_voltage_v real,
  dc_current_a real,
  max_charge_power_kw real,
  max_discharge_power_kw real,
  max_charge_current_a real,
  max_discharge_current_a real,
  charged_total_kwh double precision,
  discharged_total_kwh double precision,
  cycle_count real,
  cell_voltage_min_mv real,
  cell_voltage_max_mv real,
  cell_voltage_avg_mv real,
  cell_temperature_min_c real,
  cell_temperature_max_c real,
  cell_temperature_avg_c real,
  cell_voltage_min_cluster_idx integer,
  cell_voltage_min_module_idx integer,
  cell_voltage_max_cluster_idx integer,
  cell_voltage_max_module_idx integer,
  cell_temperature_min_cluster_idx integer,
  cell_temperature_min_module_idx integer,
  cell_temperature_max_cluster_idx integer,
  cell_temperature_max_module_idx integer,
  insulation_resistance_kohm real,
  ambient_temperature_c real,
  coolant_temperature_c real,
  contactor_state text,
  fire_system_state text,
  control_place text,
  heartbeat_ok integer,
  alarm_1 bigint,
  alarm_2 bigint,
  alarm_3 bigint,
  alarm_4 bigint,
  primary key (site_id, bess_id, measured_at)
) partition by range (measured_at);
create table bess_latest (
  like bess_readings, received_at timestamptz not null, primary key (site_id, bess_id)
) with (fillfactor = 50);

create table pcs_readings (
  site_id text not null,
  bess_id integer not null,
  pcs_idx integer not null,
  measured_at timestamptz not null,
  quality text not null,
  state text,
  state_vendor_code integer,
  grid_mode text,
  ac_power_kw real,
  reactive_power_kvar real,
  apparent_power_kva real,
  power_factor real,
  frequency_hz real,
  voltage_l1_l2_v real,
  voltage_l2_l3_v real,
  voltage_l3_l1_v real,
  current_l1_a real,
  current_l2_a real,
  current_l3_a real,
  dc_voltage_v real,
  dc_current_a real,
  dc_power_kw real,
  setpoint_kw real,
  setpoint_kvar real,
  max_charge_power_kw real,
  max_discharge_power_kw real,
  energy_injected_total_kwh double precision,
  energy_absorbed_total_kwh double precision,
  heatsink_temperature_c real,
  igbt_temperature_c real,
  cabinet_temperature_c real,
  ambient_temperature_c real,
  transformer_temperature_c real,
  ac_breaker_closed integer,
  dc_contactor_closed integer,
  insulation_resistance_kohm real,
  throttle_pct real,
  throttle_source bigint,
  control_place text,
  alarm_1 bigint,
  alarm_2 bigint,
  alarm_3 bigint,
  alarm_4 bigint,
  alarm_5 bigint,
  primary key (site_id, bess_id, measured_at, pcs_idx)
) partition by range (measured_at);
create table pcs_latest (
  like pcs_readings, received_at timestamptz not null, primary key (site_id, bess_id, pcs_idx)
) with (fillfactor = 50);

create table cluster_readings (
  site_id text not null,
  bess_id integer not null,
  cluster_idx integer not null,
  measured_at timestamptz not null,
  quality text not null,
  state text,
  soc_pct real,
  soh_pct real,
  voltage_v real,
  current_a real,
  cell_voltage_min_mv real,
  cell_voltage_max_mv real,
  cell_voltage_avg_mv real,
  cell_voltage_min_module_idx integer,
  cell_voltage_max_module_idx integer,
  cell_temperature_min_c real,
  cell_temperature_max_c real,
  cell_temperature_avg_c real,
  cell_temperature_min_module_idx integer,
  cell_temperature_max_module_idx integer,
  insulation_positive_kohm real,
  insulation_negative_kohm real,
  max_charge_current_a real,
  max_discharge_current_a real,
  cycle_count real,
  balancing_cell_count integer,
  positive_contactor_closed integer,
  negative_contactor_closed integer,
  precharge_contactor_closed integer,
  connection_failure text,
  alarm_1 bigint,
  alarm_2 bigint,
  primary key (site_id, bess_id, measured_at, cluster_idx)
) partition by range (measured_at);
create table cluster_latest (
  like cluster_readings, received_at timestamptz not null, primary key (site_id, bess_id, cluster_idx)
) with (fillfactor = 50);

create table cells_readings (
  site_id text not null,
  bess_id integer not null,
  cluster_idx integer not null,
  measured_at timestamptz not null,
  quality text not null,
  cell_voltage_mv real[],
  cell_temperature_c real[],
  cell_balancing real[],
  module_voltage_v real[],
  module_soc_pct real[],
  module_soh_pct real[],
  primary key (site_id, bess_id, measured_at, cluster_idx)
) partition by range (measured_at);
create table cells_latest (
  like cells_readings, received_at timestamptz not null, primary key (site_id, bess_id, cluster_idx)
) with (fillfactor = 50);

-- What is set now is the newest of each code: found without reading the past.
create index events_of_batteries
  on events (site_id, source_kind, source_id, code, at desc, event_id desc)
  where source_kind in ('bess', 'pcs') and edge <> 'once';
