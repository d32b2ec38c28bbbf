-- A row that is over stays `releasing` until the edge confirms that its limits are lifted, or until
-- the record is closed without that.
alter table curtailment_rows
  add column closed_at timestamptz,
  -- operator: a person closed the record; edge_removed: no edge of the site is left to confirm;
  -- end_at: before this migration a row was over 60 s after its end, confirmed or not
  add column closed_reason text check (closed_reason in ('operator', 'edge_removed', 'end_at')),
  add column closed_by text,
  add column close_note text,
  add check ((closed_at is null) = (closed_reason is null));

-- Rows that were served as over stay over.
update curtailment_rows
set closed_at = case when released_at is null then end_at else end_at + interval '60 seconds' end,
  closed_reason = 'end_at'
where told_at is not null and restored_at is null
  and not (is_release_heard and released_at < start_at)
  and end_at + interval '60 seconds' <= now();

create index curtailment_rows_unconfirmed on curtailment_rows (site_id)
where told_at is not null and restored_at is null and closed_at is null;
