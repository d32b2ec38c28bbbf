-- `device_below_limit` became `limit_not_as_set`: what a site set of its alert stays in force.
update site_alerting
set settings = jsonb_set(
  settings #- '{rules,device_below_limit}',
  '{rules,limit_not_as_set}',
  coalesce(settings #> '{rules,limit_not_as_set}', settings #> '{rules,device_below_limit}')
)
where settings #> '{rules,device_below_limit}' is not null;
