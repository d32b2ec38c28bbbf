-- Electricity markets, their prices and exchange rates: reference tables, without site_id, copied to
-- every node of a cluster.

create table markets (
  market_code text primary key check (market_code ~ '^[A-Z0-9][A-Z0-9-]{1,19}$'),
  name text not null,
  -- the bidding zone at ENTSO-E
  eic_code text,
  country_codes text[] not null default '{}',
  type text not null default 'day_ahead' check (type in ('day_ahead')),
  auction text check (auction in ('sdac', 'exaa', 'local')),
  operator text,
  -- all its prices are in it; what is published in another is converted when it is stored
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- of its delivery day and of the times of day below; the zones of SDAC deliver from midnight CET
  timezone text not null,
  -- usual; prices say their own
  resolution_minutes integer not null check (resolution_minutes in (15, 30, 60)),
  -- on the day before delivery, HH:MM; null: not known
  gate_closure_local text check (gate_closure_local ~ '^([01]\d|2[0-3]):[0-5]\d$'),
  publication_local text check (publication_local ~ '^([01]\d|2[0-3]):[0-5]\d$'),
  price_min_per_mwh numeric,
  price_max_per_mwh numeric,
  -- which of several day-ahead auctions of the zone, as ENTSO-E counts them; null: there is one
  sequence integer check (sequence > 0),
  -- where its prices are fetched from; null: nowhere
  source text check (source in ('entsoe', 'energy_charts', 'simulated')),
  -- the first delivery day that is fetched
  followed_from date,
  check ((source is null) = (followed_from is null))
);

-- What became of fetching a market's prices, as a whole.
create table price_fetches (
  market_code text primary key references markets,
  attempted_at timestamptz not null,
  -- when an answer was last understood, be it that there are none yet
  succeeded_at timestamptz,
  -- in a row
  failure_count integer not null default 0,
  failed_at timestamptz,
  -- stays when a later attempt succeeds; failure_count tells
  last_failure text,
  -- not again before
  next_attempt_at timestamptz not null
);

-- When each delivery day, by the market's time zone, was last fetched, and whether all of it was there.
create table price_days (
  market_code text not null references markets,
  delivery_date date not null,
  fetched_at timestamptz not null,
  is_complete boolean not null,
  primary key (market_code, delivery_date)
);

-- The price of each period as it was published, and every one before that it replaced. Those that are
-- current never overlap.
create table market_prices (
  market_code text not null references markets,
  kind text not null check (kind in ('day_ahead', 'imbalance')),
  start_at timestamptz not null,
  -- from 1; above that of each price that it replaced
  revision integer not null check (revision > 0),
  end_at timestamptz not null,
  -- in the currency of the market, per MWh
  price numeric not null,
  source text not null check (source in ('entsoe', 'energy_charts', 'simulated', 'csv')),
  document_id text,
  -- as the source says; null where it does not
  published_at timestamptz,
  fetched_at timestamptz not null,
  is_current boolean not null default true,
  primary key (market_code, kind, start_at, revision),
  check (end_at > start_at and end_at <= start_at + interval '1 day')
);
create unique index market_prices_current
  on market_prices (market_code, kind, start_at) where is_current;

-- What one euro costs in a currency from a day on, until the next day that has a rate.
create table exchange_rates (
  currency text not null check (currency ~ '^[A-Z]{3}$' and currency <> 'EUR'),
  valid_from date not null,
  per_eur numeric not null check (per_eur > 0),
  primary key (currency, valid_from)
);

-- Fixed by law until Bulgaria took the euro.
insert into exchange_rates (currency, valid_from, per_eur) values ('BGN', '1999-01-01', 1.95583);

-- The coupled day-ahead market of Europe (SDAC): one gate, one publication, harmonised limits.
insert into markets (market_code, name, eic_code, country_codes, auction, operator, currency,
  timezone, resolution_minutes, gate_closure_local, publication_local, price_min_per_mwh,
  price_max_per_mwh, sequence)
select code, name, eic, countries, 'sdac', operator, 'EUR', zone, 15, '12:00', '12:57', -500, 4000,
  sequence
from (values
  ('AT', 'Austria', '10YAT-APG------L', '{AT}'::text[], 'EPEX SPOT, Nord Pool, EXAA',
    'Europe/Vienna', 1),
  ('BE', 'Belgium', '10YBE----------2', '{BE}', 'EPEX SPOT, Nord Pool', 'Europe/Brussels', null),
  ('BG', 'Bulgaria', '10YCA-BULGARIA-R', '{BG}', 'IBEX', 'Europe/Brussels', null),
  ('CZ', 'Czechia', '10YCZ-CEPS-----N', '{CZ}', 'OTE', 'Europe/Prague', null),
  ('DE-LU', 'Germany and Luxembourg', '10Y1001A1001A82H', '{DE,LU}',
    'EPEX SPOT, Nord Pool, EXAA', 'Europe/Berlin', 1),
  ('DK1', 'Denmark, west', '10YDK-1--------W', '{DK}', 'Nord Pool, EPEX SPOT',
    'Europe/Copenhagen', null),
  ('DK2', 'Denmark, east', '10YDK-2--------M', '{DK}', 'Nord Pool, EPEX SPOT',
    'Europe/Copenhagen', null),
  ('EE', 'Estonia', '10Y1001A1001A39I', '{EE}', 'Nord Pool', 'Europe/Brussels', null),
  ('ES', 'Spain', '10YES-REE------0', '{ES}', 'OMIE', 'Europe/Madrid', null),
  ('FI', 'Finland', '10YFI-1--------U', '{FI}', 'Nord Pool, EPEX SPOT', 'Europe/Brussels', null),
  ('FR', 'France', '10YFR-RTE------C', '{FR}', 'EPEX SPOT, Nord Pool', 'Europe/Paris', null),
  ('GR', 'Greece', '10YGR-HTSO-----Y', '{GR}', 'HEnEx', 'Europe/Brussels', null),
  ('HR', 'Croatia', '10YHR-HEP------M', '{HR}', 'CROPEX', 'Europe/Zagreb', null),
  ('HU', 'Hungary', '10YHU-MAVIR----U', '{HU}', 'HUPX', 'Europe/Budapest', null),
  ('IT-CALABRIA', 'Italy, Calabria', '10Y1001C--00096J', '{IT}', 'GME', 'Europe/Rome', null),
  ('IT-CENTRE-NORTH', 'Italy, centre north', '10Y1001A1001A70O', '{IT}', 'GME', 'Europe/Rome',
    null),
  ('IT-CENTRE-SOUTH', 'Italy, centre south', '10Y1001A1001A71M', '{IT}', 'GME', 'Europe/Rome',
    null),
  ('IT-NORTH', 'Italy, north', '10Y1001A1001A73I', '{IT}', 'GME', 'Europe/Rome', null),
  ('IT-SARDINIA', 'Italy, Sardinia', '10Y1001A1001A74G', '{IT}', 'GME', 'Europe/Rome', null),
  ('IT-SICILY', 'Italy, Sicily', '10Y1001A1001A75E', '{IT}', 'GME', 'Europe/Rome', null),
  ('IT-SOUTH', 'Italy, south', '10Y1001A1001A788', '{IT}', 'GME', 'Europe/Rome', null),
  ('LT', 'Lithuania', '10YLT-1001A0008Q', '{LT}', 'Nord Pool', 'Europe/Brussels', null),
  ('LV', 'Latvia', '10YLV-1001A00074', '{LV}', 'Nord Pool', 'Europe/Brussels', null),
  ('NL', 'Netherlands', '10YNL----------L', '{NL}', 'EPEX SPOT, Nord Pool', 'Europe/Amsterdam',
    null),
  ('NO1', 'Norway, Oslo', '10YNO-1--------2', '{NO}', 'Nord Pool, EPEX SPOT', 'Europe/Oslo', null),
  ('NO2', 'Norway, Kristiansand', '10YNO-2--------T', '{NO}', 'Nord Pool, EPEX SPOT',
    'Europe/Oslo', null),
  ('PL', 'Poland', '10YPL-AREA-----S', '{PL}', 'TGE, EPEX SPOT, Nord Pool', 'Europe/Warsaw', null),
  ('PT', 'Portugal', '10YPT-REN------W', '{PT}', 'OMIE', 'Europe/Brussels', null),
  ('RO', 'Romania', '10YRO-TEL------P', '{RO}', 'OPCOM', 'Europe/Brussels', null),
  ('SE1', 'Sweden, Luleå', '10Y1001A1001A44P', '{SE}', 'Nord Pool, EPEX SPOT', 'Europe/Stockholm',
    null),
  ('SE2', 'Sweden, Sundsvall', '10Y1001A1001A45N', '{SE}', 'Nord Pool, EPEX SPOT',
    'Europe/Stockholm', null),
  ('SE3', 'Sweden, Stockholm', '10Y1001A1001A46L', '{SE}', 'Nord Pool, EPEX SPOT',
    'Europe/Stockholm', null),
  ('SE4', 'Sweden, Malmö', '10Y1001A1001A47J', '{SE}', 'Nord Pool, EPEX SPOT', 'Europe/Stockholm',
    null),
  ('SI', 'Slovenia', '10YSI-ELES-----O', '{SI}', 'BSP SouthPool', 'Europe/Ljubljana', null),
  ('SK', 'Slovakia', '10YSK-SEPS-----K', '{SK}', 'OKTE', 'Europe/Bratislava', null)
) as zones (code, name, eic, countries, operator, zone, sequence);

-- Auctions of their own, whose hours and limits are the exchange's.
insert into markets (market_code, name, eic_code, country_codes, auction, operator, currency,
  timezone, resolution_minutes, gate_closure_local, sequence) values
  ('AT-EXAA', 'Austria, auction of 10:15', '10YAT-APG------L', '{AT}', 'exaa', 'EXAA', 'EUR',
    'Europe/Vienna', 15, '10:15', 2),
  ('DE-LU-EXAA', 'Germany and Luxembourg, auction of 10:15', '10Y1001A1001A82H', '{DE,LU}',
    'exaa', 'EXAA', 'EUR', 'Europe/Berlin', 15, '10:15', 2),
  ('AL', 'Albania', '10YAL-KESH-----5', '{AL}', 'local', 'ALPEX', 'EUR', 'Europe/Tirane', 60, null,
    null),
  ('BA', 'Bosnia and Herzegovina', '10YBA-JPCC-----D', '{BA}', 'local', null, 'EUR',
    'Europe/Sarajevo', 60, null, null),
  ('CH', 'Switzerland', '10YCH-SWISSGRIDZ', '{CH}', 'local', 'EPEX SPOT', 'EUR', 'Europe/Zurich',
    60, '11:00', null),
  ('ME', 'Montenegro', '10YCS-CG-TSO---S', '{ME}', 'local', 'MEPX', 'EUR', 'Europe/Podgorica', 60,
    null, null),
  ('MK', 'North Macedonia', '10YMK-MEPSO----8', '{MK}', 'local', 'MEMO', 'EUR', 'Europe/Skopje',
    60, null, null),
  ('RS', 'Serbia', '10YCS-SERBIATSOV', '{RS}', 'local', 'SEEPEX', 'EUR', 'Europe/Belgrade', 60,
    null, null),
  ('XK', 'Kosovo', '10Y1001C--00100H', '{XK}', 'local', 'ALPEX', 'EUR', 'Europe/Belgrade', 60,
    null, null);
