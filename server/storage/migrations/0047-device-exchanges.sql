-- Each change of the serial number at the address of a device, as the edge found it. At `changed_at`
-- the counter of another device begins. `answer` is a person's, or that of `site.yaml`.
--
-- Lock: SHARE ROW EXCLUSIVE on `sites` for its foreign key, for milliseconds; it waits for running
-- writes of sites, and reads go on.
create table device_exchanges (
  site_id text not null references sites,
  kind text not null,
  -- the id of the device, as in `events.source_id`
  device_id text not null,
  changed_at timestamptz not null,
  received_at timestamptz not null,
  old_serial_number text not null,
  serial_number text not null,
  answer text check (answer in ('same_place', 'wrong_wiring')),
  answered_at timestamptz,
  answered_by text,
  primary key (site_id, kind, device_id, changed_at)
);
