-- Of the request that approved or rejected a schedule; null of what the edge noted.
alter table battery_control_notes add column request_id text;
