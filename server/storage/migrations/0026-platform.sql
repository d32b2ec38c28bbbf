-- The owner's platform: who signs in, and what they do that belongs to no site. Tables and columns
-- that the sign-in library reads and writes are named in server/platform/auth.ts.

create table users (
  id text primary key check (id ~ '^user_[0-9a-f]{12}$'),
  client_id integer not null references clients,
  role text not null check (role in ('viewer', 'operator', 'administrator')),
  -- null: every site of the client
  site_ids text[],
  name text not null,
  -- in lower case
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean not null default false,
  disabled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index users_of_client on users (client_id, id);

create table user_sessions (
  id text primary key,
  user_id text not null references users on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index user_sessions_of_user on user_sessions (user_id);
create index user_sessions_end on user_sessions (expires_at);

-- How a user proves who he is: a password, as argon2id.
create table user_accounts (
  id text primary key,
  user_id text not null references users on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  password text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index user_accounts_of_user on user_accounts (user_id);

-- What a user must bring back: links to a new password, the second step of a sign-in.
create table user_verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index user_verifications_identifier on user_verifications (identifier);

create table user_two_factors (
  id text primary key,
  user_id text not null references users on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean,
  failed_verification_count integer,
  locked_until timestamptz
);
create index user_two_factors_of_user on user_two_factors (user_id);

-- Requests to sign in by address, counted by the sign-in library.
create table sign_in_rates (
  id text primary key,
  key text not null unique,
  count integer not null,
  last_request bigint not null
);

-- Wrong passwords of an address in a row, also of one that nobody has.
create table sign_in_failures (
  email text primary key,
  failures integer not null,
  failed_at timestamptz not null,
  locked_until timestamptz
);

-- One-time links to an account of one's own. Only the digest of what the link holds is kept.
create table invitations (
  invitation_id text primary key check (invitation_id ~ '^[0-9a-f]{12}$'),
  client_id integer not null references clients,
  secret_sha256 bytea not null,
  role text not null check (role in ('viewer', 'operator', 'administrator')),
  site_ids text[],
  -- null: whoever has the link says his own; of the first link alone
  email text,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by text references users on delete set null,
  revoked_at timestamptz
);
create index invitations_of_client on invitations (client_id, created_at);

-- Signs the cookies of sessions, made by the first server that starts.
create table platform_secret (
  only_one boolean primary key default true check (only_one),
  secret text not null,
  created_at timestamptz not null default now()
);

-- Every write that belongs to a client and to none of its sites.
create table client_audit (
  client_id integer not null references clients,
  audit_id bigint generated always as identity,
  at timestamptz not null,
  key_id text not null,
  key_name text not null,
  method text not null,
  path text not null,
  body text,
  status integer,
  answer text,
  request_id text not null,
  idempotency_key text,
  primary key (client_id, audit_id)
);
create index client_audit_at on client_audit (client_id, at);

-- Users have records of their own, too.
alter table idempotency_records drop constraint idempotency_records_key_id_fkey;
