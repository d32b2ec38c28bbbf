-- Sites that a running round of a job has still to visit. A claimed site is the work of one server
-- until then, after which any other may claim it.
create table due_sites (
  site_id text not null references sites,
  job text not null,
  claimed_until timestamptz,
  primary key (site_id, job)
) with (fillfactor = 50);
