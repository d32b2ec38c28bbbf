-- Requests of the last 60 s while several servers share one database. Unlogged: a database that
-- crashed forgets them, and no request waits for the disk.
drop table rate_counts;
create unlogged table rate_windows (
  subject text not null,
  policy text not null,
  -- Unix time in ms by the clock of the database, and the requests of each of these instants
  at_ms double precision[] not null,
  counts integer[] not null,
  updated_at timestamptz not null default now(),
  primary key (subject, policy)
);

-- true: it grants requests by rate_windows; false: by its own memory, as the only server
alter table replicas add column shares boolean not null default false;
