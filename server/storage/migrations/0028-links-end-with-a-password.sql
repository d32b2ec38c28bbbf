-- A new password ends what the old one, or a link, had begun: links to a new password, and sign-ins
-- that wait for their second factor.
create function end_password_links() returns trigger language plpgsql as $$
begin
  delete from user_verifications where value = new.user_id;
  return null;
end
$$;
create trigger user_accounts_new_password after update of password on user_accounts
  for each row when (new.password is distinct from old.password)
  execute function end_password_links();
create index user_verifications_value on user_verifications (value);
