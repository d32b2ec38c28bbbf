-- The key, or the person, that ordered a subscription last: it is run no longer than that may.
-- null: ordered before this was noted, by a key that cannot be told from its name.
alter table report_subscriptions add column key_id text;
update report_subscriptions s set key_id = coalesce(
  (select k.key_id from api_keys k join sites using (client_id)
   where sites.site_id = s.site_id and k.name = s.created_by and k.created_at <= s.created_at
   order by k.revoked_at is null desc, k.created_at desc limit 1),
  (select min(u.id) from users u join sites using (client_id)
   where sites.site_id = s.site_id and u.name = s.created_by having count(*) = 1));
