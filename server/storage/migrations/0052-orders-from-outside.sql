-- Orders that an edge took from outside: of a grid operator, a direct marketer, relay inputs. They
-- have no end until their source replaces them: until then `end_at` is the last instant of 2999.
--
-- Lock: the table of groups, ACCESS EXCLUSIVE, while it is read once; a row for each command.
alter table curtailment_groups drop constraint curtailment_groups_source_check;
alter table curtailment_groups add constraint curtailment_groups_source_check check (
  source in ('api', 'edge_local', 'grid_operator', 'direct_marketer', 'digital_input'));
