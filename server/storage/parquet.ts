/** Parquet files: written in row groups with bounded memory, and read group by group. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

export type ParquetType =
  | 'number'
  | 'integer'
  | 'boolean'
  | 'text'
  | 'instant'
  | 'day'
  | 'numbers'
  | 'json'

export interface ParquetColumn {
  name: string
  type: ParquetType
}

type Row = Readonly<Record<string, unknown>>

/** Values of a row group, which are in memory at once and hold their thread for 0.1 s. */
const group_values = 100_000

/** What the type of a column is in a file, and how a value is written. Each may be null. */
const forms: Record<ParquetType, { element: object; valueOf(value: unknown): unknown }> = {
  number: { element: { type: 'DOUBLE' }, valueOf: Number },
  integer: { element: { type: 'INT64' }, valueOf: (value) => BigInt(value as number) },
  boolean: { element: { type: 'BOOLEAN' }, valueOf: Boolean },
  text: {
    element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
    valueOf: String,
  },
  instant: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    valueOf: (value) => new Date(value as string | number | Date),
  },
  day: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    valueOf: (value) => new Date(`${value}T00:00:00Z`),
  },
  numbers: { element: {}, valueOf: (value) => value },
  // The library turns values of JSON columns into text.
  json: {
    element: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
    valueOf: (value) => value,
  },
}

function elementsOf({ name, type }: ParquetColumn): SchemaElement[] {
  const optional = { repetition_type: 'OPTIONAL' } as const
  if (type !== 'numbers') return [{ name, ...optional, ...forms[type].element }]
  const list = { converted_type: 'LIST', logical_type: { type: 'LIST' } } as const
  return [
    { name, num_children: 1, ...optional, ...list },
    { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
    { name: 'element', type: 'DOUBLE', ...optional },
  ]
}

/**
 * The bytes of a file with these columns, a row group at a time.
 *
 * @param metadata pairs of text that readers of the file find
 */
export async function* parquetFile(
  columns: readonly ParquetColumn[],
  batches: AsyncIterable<readonly Row[]>,
  metadata: Readonly<Record<string, string>> = {},
): AsyncGenerator<Buffer> {
  const bytes = new ByteWriter()
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)],
    codec: 'ZSTD',
    compressors: { ZSTD: (data) => zstdCompressSync(data) },
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    createdBy: 'heliograph',
  })
  const taken = () => {
    const part = Buffer.from(bytes.getBytes())
    bytes.index = 0
    return part
  }
  const group_rows = Math.ceil(group_values / columns.length)
  let rows: Row[] = []
  const write = async (group: readonly Row[]) =>
    await writer.write({
      columnData: columns.map(({ name, type }) => ({
        name,
        offsetIndex: false,
        data: group.map((row) => {
          const value = row[name]
          return value === null || value === undefined ? null : forms[type].valueOf(value)
        }),
      })),
      rowGroupSize: group_rows,
    })
  for await (const batch of batches) {
    rows = rows.concat(batch)
    while (rows.length >= group_rows) {
      await write(rows.slice(0, group_rows))
      rows = rows.slice(group_rows)
      yield taken()
    }
  }
  if (rows.length > 0) await write(rows)
  await writer.finish()
  yield taken()
}

interface ByteSource {
  byteLength: number
  slice(start: number, end?: number): ArrayBuffer | Promise<ArrayBuffer>
}

const compressors = { ZSTD: (data: Uint8Array) => new Uint8Array(zstdDecompressSync(data)) }

/** The metadata of a file, and its rows by row group; instants are dates. */
export async function openParquet(file: ByteSource) {
  const metadata = await parquetMetadataAsync(file)
  return {
    metadata: Object.fromEntries(
      (metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value ?? '']),
    ),
    async *groups(): AsyncGenerator<Record<string, unknown>[]> {
      let rowStart = 0
      for (const { num_rows } of metadata.row_groups) {
        const rowEnd = rowStart + Number(num_rows)
        yield parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors })
        rowStart = rowEnd
      }
    },
  }
}
