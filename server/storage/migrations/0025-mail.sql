-- Mails that are to be sent, and what became of them.
create table mail_outbox (
  site_id text not null references sites,
  mail_id bigint generated always as identity,
  -- what it is about: of that, each recipient is sent one mail
  dedup_key text not null,
  recipient text not null,
  subject text not null,
  text text not null,
  -- a run of a report whose file goes with it
  attach_run_id uuid,
  -- what it is about, below the server's public address
  link_path text,
  state text not null default 'waiting'
    check (state in ('waiting', 'sent', 'failed', 'unsendable')),
  queued_at timestamptz not null default now(),
  -- null: at once
  next_try_at timestamptz,
  tries integer not null default 0,
  first_tried_at timestamptz,
  -- until then a sender is at it; one that died leaves it to the next
  claimed_until timestamptz,
  last_error text,
  -- what the mail server said when it took it
  answer text,
  ended_at timestamptz,
  primary key (site_id, mail_id)
);
create unique index mail_outbox_once on mail_outbox (site_id, dedup_key, recipient);
create index mail_outbox_not_sent on mail_outbox (site_id, state, next_try_at)
  where state <> 'sent';

-- Who was told what of an alert, and when. Kind `noticed`, of no recipient: since when there is
-- something to tell of it.
create table alert_tellings (
  site_id text not null references sites,
  alert_id bigint not null,
  occurrence integer not null,
  kind text not null check (kind in ('noticed', 'raised', 'worsened', 'escalated', 'resolved')),
  recipient text not null,
  told_at timestamptz not null,
  -- as it was then
  severity text not null,
  primary key (site_id, alert_id, occurrence, kind, recipient),
  foreign key (site_id, alert_id) references alerts on delete cascade
);
