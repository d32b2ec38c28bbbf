-- Addresses of a client to which events are sent as they are published.
create table webhooks (
  client_id integer not null references clients,
  webhook_id text not null,
  name text not null,
  url text not null,
  -- null for all types, and for all sites of the client
  types text[],
  site_ids text[],
  state text not null check (state in ('active', 'paused', 'off')),
  -- encrypted; the previous secret signs beside the new one until then
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  -- since the last success; `off` after three days
  failing_since_at timestamptz,
  primary key (client_id, webhook_id)
);
create unique index webhooks_id on webhooks (webhook_id);

-- An event for a webhook, stored with the event.
create table webhook_deliveries (
  site_id text not null references sites,
  event_id bigint not null,
  webhook_id text not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  -- while an attempt runs: when another server may try
  next_try_at timestamptz not null,
  tries integer not null default 0,
  first_tried_at timestamptz,
  primary key (site_id, event_id, webhook_id),
  foreign key (site_id, event_id) references published_events on delete cascade
);
create index webhook_deliveries_waiting on webhook_deliveries (site_id, webhook_id, next_try_at)
  where state = 'waiting';

create table webhook_attempts (
  site_id text not null references sites,
  event_id bigint not null,
  webhook_id text not null,
  attempt_id uuid not null,
  at timestamptz not null,
  duration_ms integer not null,
  -- null where none came
  status integer,
  -- the first kilobyte
  answer text,
  -- why the attempt failed; null for a success
  failure text,
  primary key (site_id, event_id, webhook_id, attempt_id),
  foreign key (site_id, event_id, webhook_id) references webhook_deliveries on delete cascade
);
