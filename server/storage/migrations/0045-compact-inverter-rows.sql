-- A row of an inverter takes 175 bytes in place of 345: values that no statement reads are in
-- `compact` (server/telemetry/compact-values.ts), and alarm words of 0 in the bits of `zero_alarms`.
-- Rows and latest readings of before keep their columns and are read beside the new ones; the last
-- such row goes with its week.
--
-- Locks: no default and no rewrite, so each table is locked (ACCESS EXCLUSIVE, its partitions too)
-- for milliseconds, after the statements that read it at that moment have ended.
alter table inverter_readings add column zero_alarms smallint, add column compact bytea;
alter table inverter_latest add column compact bytea;
