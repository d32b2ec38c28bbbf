-- Standing orders: limits that an owner approved once for hours with a low net price.
--
-- Lock: the table of groups, ACCESS EXCLUSIVE, while it is read once; a row for each command.
alter table curtailment_groups drop constraint curtailment_groups_source_check;
alter table curtailment_groups add constraint curtailment_groups_source_check check (
  source in ('api', 'edge_local', 'standing_order',
    'grid_operator', 'direct_marketer', 'digital_input'));

create table standing_orders (
  site_id text not null references sites,
  standing_order_id integer not null,
  scope text not null check (scope in ('site', 'logger')),
  logger_id integer,
  limit_mode text not null check (limit_mode in ('percent', 'kw')),
  limit_value double precision not null check (limit_value > 0),
  -- per MWh, in `currency`
  net_price_below double precision not null,
  currency text not null,
  -- of the market; delivery days are days in it
  timezone text not null,
  -- null without a bound
  hours_per_day_max double precision,
  -- the last delivery day
  end_date date not null,
  state text not null check (state in ('active', 'paused', 'ended')),
  created_at timestamptz not null,
  -- users.id; its rights are checked at each planning
  approved_by_id text not null,
  approved_by text not null,
  primary key (site_id, standing_order_id)
);

create table standing_order_days (
  site_id text not null,
  standing_order_id integer not null,
  delivery_date date not null,
  outcome text not null,
  -- quarter hours without a net price, in which nothing is limited
  unpriced_quarter_count integer not null,
  planned_at timestamptz not null,
  skipped_by text,
  primary key (site_id, standing_order_id, delivery_date),
  foreign key (site_id, standing_order_id) references standing_orders
);

-- Periods of a day that were ordered. Those withdrawn before their start are deleted.
create table standing_order_periods (
  site_id text not null,
  group_id text not null,
  standing_order_id integer not null,
  delivery_date date not null,
  start_at timestamptz not null,
  -- earlier than the end of the group where the plan was withdrawn
  end_at timestamptz not null,
  -- mean per MWh, as planned
  net_price double precision not null,
  primary key (site_id, group_id),
  foreign key (site_id, group_id) references curtailment_groups,
  foreign key (site_id, standing_order_id, delivery_date) references standing_order_days
);
create index standing_order_periods_day
  on standing_order_periods (site_id, standing_order_id, delivery_date);
