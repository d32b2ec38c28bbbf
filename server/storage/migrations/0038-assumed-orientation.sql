-- The azimuth and tilt of a string are assumed: it is compared with strings whose energy comes when
-- its own does.
alter table strings add column orientation_assumed boolean not null default false;
