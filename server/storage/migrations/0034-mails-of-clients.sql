-- A mail to a person of a client whose sites are still to come belongs to no site: its site_id is
-- `client:` and the id of the client.
alter table mail_outbox drop constraint mail_outbox_site_id_fkey;
