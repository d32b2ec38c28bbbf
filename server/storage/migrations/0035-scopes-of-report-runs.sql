-- The key or the person that ordered the report when its run was queued: null where
-- report_subscriptions.key_id is.
alter table report_runs add column key_id text;
-- Scopes of the sections in the file; null while there is none.
alter table report_runs add column required_scopes text[];
alter table report_runs add column omitted_sections text[] not null default '{}';
update report_runs r set key_id = s.key_id
from report_subscriptions s where s.site_id = r.site_id and s.sub_id = r.sub_id;
update report_runs set required_scopes = case template_id
  when 'production_daily' then array['plant:read', 'energy:read']
  when 'curtailment' then array['curtailment:read', 'diagnostics:read', 'earnings:read']
  when 'battery' then array['bess:read']
  when 'earnings' then array['earnings:read']
  when 'operations' then array['alerts:read', 'om:read']
  else array['diagnostics:read'] end
where state = 'succeeded';
