-- What each battery charged and discharged on a day of UTC, in whole Wh by the quarter hour; null
-- where it is not known. What that was worth is worked out when it is asked for, by the prices,
-- contracts and rates known then.
create table battery_days (
  site_id text not null references sites,
  bess_id integer not null,
  date date not null,
  charged_wh integer[] not null check (cardinality(charged_wh) = 96),
  discharged_wh integer[] not null check (cardinality(discharged_wh) = 96),
  summed_at timestamptz not null,
  primary key (site_id, bess_id, date)
);
