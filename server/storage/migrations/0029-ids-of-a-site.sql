-- Ids that the API shows are counted by site: one counted over all sites would tell every client how
-- much the others do. What has an id keeps it; a new one follows the highest of its site.
--
-- A counter is held until the commit, so that ids of a site come in the order of the commits. Tables
-- of which one transaction may write several rows between other locks (notifications, schedules,
-- events) go on with a sequence of all sites: two such transactions would wait for each other.
create table site_ids (
  site_id text not null,
  -- the column
  kind text not null,
  last_id bigint not null,
  primary key (site_id, kind)
) with (fillfactor = 50);

insert into site_ids (site_id, kind, last_id)
select site_id, 'alert_id', max(alert_id) from alerts group by site_id
union all select site_id, 'wo_id', max(wo_id) from work_orders group by site_id
union all select site_id, 'item_id', max(item_id) from work_order_items group by site_id
union all select site_id, 'defect_id', max(defect_id) from defects group by site_id
union all select site_id, 'gap_id', max(gap_id) from gaps group by site_id
union all select site_id, 'row_id', max(row_id) from curtailment_rows group by site_id
union all select site_id, 'assignment_id', max(assignment_id) from market_assignments
  group by site_id
-- also ids of subscriptions that were deleted and whose runs are kept
union all select site_id, 'sub_id', max(sub_id) from (
  select site_id, sub_id from report_subscriptions union all select site_id, sub_id from report_runs
) as subscriptions group by site_id;

-- Gives a new row the next id of its site, in the column that the trigger names. An id that is given
-- is kept, and counted past.
create function count_id_of_site() returns trigger language plpgsql as $$
declare
  given constant bigint := (to_jsonb(new) ->> tg_argv[0])::bigint;
  taken bigint;
begin
  insert into site_ids as ids (site_id, kind, last_id)
  values (new.site_id, tg_argv[0], coalesce(given, 1))
  on conflict (site_id, kind) do update
    set last_id = case when given is null then ids.last_id + 1
      else greatest(ids.last_id, given) end
  returning last_id into taken;
  if given is null then
    new := jsonb_populate_record(new, jsonb_build_object(tg_argv[0], taken));
  end if;
  return new;
end
$$;

alter table alerts alter column alert_id drop identity;
create trigger alerts_id before insert on alerts
  for each row execute function count_id_of_site('alert_id');
alter table work_orders alter column wo_id drop identity;
create trigger work_orders_id before insert on work_orders
  for each row execute function count_id_of_site('wo_id');
alter table work_order_items alter column item_id drop identity;
create trigger work_order_items_id before insert on work_order_items
  for each row execute function count_id_of_site('item_id');
alter table defects alter column defect_id drop identity;
create trigger defects_id before insert on defects
  for each row execute function count_id_of_site('defect_id');
alter table gaps alter column gap_id drop identity;
create trigger gaps_id before insert on gaps
  for each row execute function count_id_of_site('gap_id');
alter table curtailment_rows alter column row_id drop identity;
create trigger curtailment_rows_id before insert on curtailment_rows
  for each row execute function count_id_of_site('row_id');
alter table market_assignments alter column assignment_id drop identity;
create trigger market_assignments_id before insert on market_assignments
  for each row execute function count_id_of_site('assignment_id');
alter table report_subscriptions alter column sub_id drop identity;
create trigger report_subscriptions_id before insert on report_subscriptions
  for each row execute function count_id_of_site('sub_id');
