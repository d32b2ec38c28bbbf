-- Who agreed to be mailed reports of a client: until then nothing but the question is mailed. People
-- of the client need not be asked. Recipients of before this are asked when their next report is due.
create table mail_recipients (
  client_id integer not null references clients,
  -- in lower case
  email text not null,
  -- of the link that was mailed last; null: the operator of the server confirmed for them
  secret_sha256 bytea unique,
  asked_at timestamptz,
  -- of the link
  expires_at timestamptz,
  confirmed_at timestamptz,
  primary key (client_id, email)
);
create index mail_recipients_asked on mail_recipients (client_id, asked_at);
