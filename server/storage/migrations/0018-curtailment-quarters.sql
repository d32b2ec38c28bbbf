-- What a row kept back in each quarter of an hour, whole Wh: prices differ from one to the next.
-- Null where the energy is.
alter table curtailment_hours add column quarter_wh integer[];
create index curtailment_hours_logger on curtailment_hours (site_id, logger_id, hour_at);

-- Of hours from before, whose quarters nobody kept: by the time that the row held in each.
update curtailment_hours c
set quarter_wh = q.quarter_wh
from (
  with held as (
    select h.site_id, h.group_id, h.logger_id, h.hour_at, h.curtailed_energy_kwh as kwh, quarter,
           greatest(extract(epoch from
             least(r.end_at, r.released_at, h.hour_at + (quarter + 1) * interval '15 minutes')
             - greatest(r.start_at, r.applied_at, h.hour_at + quarter * interval '15 minutes')),
             0)::float8 as held_s
    from curtailment_hours h
    join curtailment_rows r using (site_id, group_id, logger_id)
    cross join generate_series(0, 3) as quarter
    where h.curtailed_energy_kwh is not null
  ), shares as (
    select *, sum(held_s) over w as all_s from held
    window w as (partition by site_id, group_id, logger_id, hour_at)
  )
  select site_id, group_id, logger_id, hour_at,
         array_agg(round(1000 * kwh * case when all_s > 0 then held_s / all_s else 0.25 end)::int
           order by quarter) as quarter_wh
  from shares
  group by site_id, group_id, logger_id, hour_at
) as q
where q.site_id = c.site_id and q.group_id = c.group_id and q.logger_id = c.logger_id
  and q.hour_at = c.hour_at;
