-- One-time codes that a gateway exchanges for the token of an edge. Only digests are stored, of the
-- code and of the token. A token that waits for a person is in no row of `edges`.
--
-- Lock: SHARE ROW EXCLUSIVE on `sites` for its foreign key, for milliseconds; it waits for running
-- writes of sites, and reads go on.
create table enrolments (
  site_id text not null references sites,
  -- the first characters of the code
  enrolment_id text not null check (enrolment_id ~ '^[0-9A-Z]{6}$'),
  secret_sha256 bytea not null,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null,
  -- wrong codes with the characters of this one at their beginning
  tries integer not null default 0,
  -- revoked by a person, or by a newer code of the site
  revoked_at timestamptz,
  -- of the gateway that exchanged the code
  used_at timestamptz,
  gateway text,
  address text,
  agent_version text,
  edge_id text,
  edge_secret_sha256 bytea,
  enrolled_at timestamptz,
  -- who confirmed the take-over; null where no edge had to be replaced
  confirmed_by text,
  primary key (site_id, enrolment_id)
);
