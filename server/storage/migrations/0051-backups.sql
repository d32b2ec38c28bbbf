-- Scheduled backups: how each attempt ended, and when it was restored for a test. The file name is
-- the id of an attempt.
--
-- Lock: none on other tables.
create table backups (
  file text primary key,
  started_at timestamptz not null,
  -- null: no backup was made, see `error`
  finished_at timestamptz,
  bytes bigint,
  error text,
  verified_at timestamptz,
  -- null: it was restored, and the counts of all tables agree
  verify_error text
);
