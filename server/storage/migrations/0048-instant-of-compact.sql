-- The instant of the reading whose values are in `compact`. A server of an earlier release updates the
-- other columns of a latest reading and leaves `compact` as it was.
--
-- Lock: the table, ACCESS EXCLUSIVE for milliseconds; one short row for each inverter.
alter table inverter_latest add column compact_at timestamptz;
update inverter_latest set compact_at = measured_at where compact is not null;
