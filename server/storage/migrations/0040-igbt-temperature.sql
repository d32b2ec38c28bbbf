alter table inverter_readings add column igbt_temperature_c real;
alter table inverter_latest add column igbt_temperature_c real;
