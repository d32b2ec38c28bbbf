-- Every write that was asked of a site, by whom, when, and what the answer was. Not those without a
-- key, those past their rate, and repetitions that were answered from the record of the first.
create table write_audit (
  site_id text not null references sites,
  audit_id bigint generated always as identity,
  at timestamptz not null,
  -- as it was called then; a key may go
  key_id text not null,
  key_name text not null,
  method text not null,
  -- below the site, without its query
  path text not null,
  -- JSON, cut where it is long; null without a body, and where it was refused before it was read
  body text,
  -- null while a write that is done waits for its answer, and where the server ended meanwhile
  status integer,
  -- JSON, cut where it is long
  answer text,
  request_id text not null,
  idempotency_key text,
  primary key (site_id, audit_id)
);
create index write_audit_at on write_audit (site_id, at);
