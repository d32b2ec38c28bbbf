-- Commands that agents propose. A person decides each within an hour, or it lapses.
create table proposals (
  site_id text not null references sites,
  proposal_id integer not null,
  kind text not null check (kind in ('curtailment', 'battery_plan')),
  -- the body of the command, and what it would do when it was proposed
  command jsonb not null,
  effect jsonb not null,
  reason text not null,
  made_at timestamptz not null,
  made_by text not null,
  key_id text not null references api_keys,
  lapses_at timestamptz not null,
  decision text check (decision in ('approved', 'rejected')),
  decided_at timestamptz,
  decided_by text,
  note text,
  -- the group of the curtailment, or the schedule
  result_id text,
  primary key (site_id, proposal_id)
);
