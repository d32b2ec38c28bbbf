-- What happened at a site, for streams and webhooks, for 30 days. A row is written in the transaction
-- of the change that it reports.
create table published_events (
  site_id text not null references sites,
  event_id bigint not null,
  at timestamptz not null,
  -- `alert.raised`
  type text not null,
  -- the resource: `alert/118`
  subject text not null,
  -- path of the resource below the site
  link text not null,
  -- as the API serves it; null where it exceeds 64 KiB
  record json,
  primary key (site_id, event_id)
);
create index published_events_at on published_events (site_id, at);

-- The newest event of each site. Its row is locked until the commit, so that events become visible in
-- the order of their ids.
create table event_counters (
  site_id text primary key references sites,
  last_event_id bigint not null,
  -- events of the newest transaction
  added integer not null
) with (fillfactor = 50);
