-- The other ids that the API shows tell nothing about other clients either. Each site and each
-- client has a sequence: a new row takes the next number of its own.
--
-- Sequences, not the counters of `site_ids`: edges report many of these rows in one transaction,
-- and live data must not wait until a transaction with old data commits. The tables of a site share
-- its sequence, so ids have holes.

create function ids_of_owner(owner text, id text) returns text immutable language sql
  return 'ids_of_' || owner || '_' || md5(id);

-- Gives a new site or client its sequence, starting afresh where the id was used before.
create function create_ids_of_owner() returns trigger language plpgsql as $$
declare
  ids constant text := ids_of_owner(tg_argv[0], to_jsonb(new) ->> (tg_argv[0] || '_id'));
begin
  execute format('drop sequence if exists %I', ids);
  execute format('create sequence %I', ids);
  return null;
end
$$;
create trigger sites_ids after insert on sites
  for each row execute function create_ids_of_owner('site');
create trigger clients_ids after insert on clients
  for each row execute function create_ids_of_owner('client');

-- Gives a new row the next id of its site, or of its client, in the column that the trigger names.
create function take_id_of_site() returns trigger language plpgsql as $$
declare
  taken constant bigint := nextval(ids_of_owner('site', new.site_id)::regclass);
begin
  return jsonb_populate_record(new, jsonb_build_object(tg_argv[0], taken));
end
$$;
create function take_id_of_client() returns trigger language plpgsql as $$
declare
  taken constant bigint := nextval(ids_of_owner('client', new.client_id::text)::regclass);
begin
  return jsonb_populate_record(new, jsonb_build_object(tg_argv[0], taken));
end
$$;

do $$
declare
  taken record;
begin
  for taken in
    select 'site' as owner, site_id as id, max(last_id) as last_id from (
      select site_id, 0 as last_id from sites
      union all select site_id, max(event_id) from events group by site_id
      union all select site_id, max(relay_event_id) from relay_events group by site_id
      union all select site_id, max(schedule_id) from battery_schedules group by site_id
      union all select site_id, max(dispatch_id) from battery_dispatches group by site_id
      union all select site_id, max(log_id) from battery_control_notes group by site_id
      union all select site_id, max(notification_id) from om_notifications group by site_id
      union all select site_id, max(run_id) from forecast_runs group by site_id
      union all select site_id, max(audit_id) from write_audit group by site_id
    ) as ids group by site_id
    union all
    select 'client', client_id::text, coalesce(max(audit_id), 0)
    from clients left join client_audit using (client_id) group by client_id
  loop
    execute format(
      'create sequence %I start %s', ids_of_owner(taken.owner, taken.id), taken.last_id + 1);
  end loop;
end
$$;

alter table events alter column event_id drop identity;
create trigger events_id before insert on events
  for each row when (new.event_id is null) execute function take_id_of_site('event_id');
alter table relay_events alter column relay_event_id drop identity;
create trigger relay_events_id before insert on relay_events
  for each row when (new.relay_event_id is null) execute function take_id_of_site('relay_event_id');
alter table battery_schedules alter column schedule_id drop identity;
create trigger battery_schedules_id before insert on battery_schedules
  for each row when (new.schedule_id is null) execute function take_id_of_site('schedule_id');
alter table battery_dispatches alter column dispatch_id drop identity;
create trigger battery_dispatches_id before insert on battery_dispatches
  for each row when (new.dispatch_id is null) execute function take_id_of_site('dispatch_id');
alter table battery_control_notes alter column log_id drop identity;
create trigger battery_control_notes_id before insert on battery_control_notes
  for each row when (new.log_id is null) execute function take_id_of_site('log_id');
alter table om_notifications alter column notification_id drop identity;
create trigger om_notifications_id before insert on om_notifications
  for each row when (new.notification_id is null)
  execute function take_id_of_site('notification_id');
alter table forecast_runs alter column run_id drop identity;
create trigger forecast_runs_id before insert on forecast_runs
  for each row when (new.run_id is null) execute function take_id_of_site('run_id');
alter table write_audit alter column audit_id drop identity;
create trigger write_audit_id before insert on write_audit
  for each row when (new.audit_id is null) execute function take_id_of_site('audit_id');
alter table client_audit alter column audit_id drop identity;
create trigger client_audit_id before insert on client_audit
  for each row when (new.audit_id is null) execute function take_id_of_client('audit_id');
