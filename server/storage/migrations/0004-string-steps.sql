-- Small lasting losses of strings, found night by night against their own past and their peers. One
-- that was repaired has the first day on which it is over.
create table string_steps (
  site_id text not null,
  inverter_id integer not null,
  string_index integer not null,
  onset_date date not null,
  -- the day after which it stood out for the first time
  detected_date date not null,
  -- share of the yield lost, 0 to 1
  loss_ratio double precision not null,
  end_date date,
  primary key (site_id, inverter_id, string_index, detected_date)
);

-- Up to which day the days of an inverter's strings were gone through.
create table step_looks (
  site_id text not null,
  inverter_id integer not null,
  looked_date date not null,
  primary key (site_id, inverter_id)
);
