-- Signing in, harder to abuse and told in the audit.

-- Codes of second factors that were taken: each is good once (RFC 6238 §5.2).
create table user_codes_taken (
  user_id text not null references users on delete cascade,
  code text not null,
  taken_at timestamptz not null default now(),
  primary key (user_id, code)
);

-- A browser that has signed in to the account before is counted by itself; '' counts all others.
alter table sign_in_failures add column device text not null default '';
alter table sign_in_failures drop constraint sign_in_failures_pkey;
alter table sign_in_failures add primary key (email, device);

-- The network address that asked; null: before this was noted, or nobody's, as on the command line.
alter table write_audit add column address text;
alter table client_audit add column address text;
-- null: of a command of the operator
alter table client_audit alter column request_id drop not null;
