-- On several nodes each node hands out identities of a range of its own, which takes 64 bits.
alter table fees alter column fee_id type bigint;
alter table planned_outages alter column outage_id type bigint;
