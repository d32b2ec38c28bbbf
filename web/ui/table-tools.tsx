/** Filter, columns and file of a table; loaded only by tables with many rows. */
import { Button, Checkbox, Group, Popover, Stack, TextInput } from '@mantine/core'
import { IconColumns, IconDownload, IconSearch } from '@tabler/icons-react'
import { saveCsv } from './csv.ts'
import { type Column, cellsOf } from './table-rows.ts'

export interface TableToolsProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  /** Names of columns. */
  hidden: readonly string[]
  onHidden: (names: readonly string[]) => void
  filter: string
  onFilter: (text: string) => void
  /** Columns and rows that are shown, on all pages of the table. */
  shown: { columns: readonly Column<Row>[]; rows: readonly Row[] }
}

export default function TableTools<Row>(props: TableToolsProps<Row>) {
  const { label, columns, hidden, onHidden, filter, onFilter, shown } = props
  const names = columns.map(({ name }) => name).filter((name) => name !== '')
  return (
    <Group gap="xs">
      <TextInput
        size="xs"
        w={180}
        aria-label={`Filter: ${label}`}
        placeholder="Filter"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={filter}
        onChange={({ currentTarget: { value } }) => onFilter(value)}
      />
      <Popover position="bottom-start" trapFocus>
        <Popover.Target>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconColumns size={14} aria-hidden />}
            aria-label={`Columns: ${label}`}
          >
            Columns
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Checkbox.Group
            label="Shown columns"
            value={names.filter((name) => !hidden.includes(name))}
            onChange={(shown) => onHidden(names.filter((name) => !shown.includes(name)))}
          >
            <Stack gap="xs" mt="xs">
              {names.map((name) => (
                <Checkbox key={name} size="xs" value={name} label={name} />
              ))}
            </Stack>
          </Checkbox.Group>
        </Popover.Dropdown>
      </Popover>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        aria-label={`Download CSV: ${label}`}
        onClick={() =>
          void saveCsv(
            label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
            cellsOf(shown.columns, shown.rows),
          )
        }
      >
        CSV
      </Button>
    </Group>
  )
}
