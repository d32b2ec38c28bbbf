-- A server of an earlier release does not see the values in `compact`: it would make blocks without
-- them. Under the former name of this column its roll-up fails and keeps its marks, until a server of
-- this release makes the blocks.
--
-- Lock: the catalogue alone, ACCESS EXCLUSIVE for milliseconds.
alter table reading_blocks rename column ranges to string_ranges;
