/** Exports (CSV, NDJSON and Parquet) in the OpenAPI document and its introduction. */
import type { Endpoint } from './endpoint.ts'
import { export_minutes_max, exports_max, mediaTypes, patience } from './export.ts'
import { csvForm, csvLine, type ExportItem } from './export-items.ts'
import type { Json } from './openapi-schemas.ts'

/** The export formats of a successful answer by media type, with the items of the JSON example. */
export function exportContent(endpoint: Endpoint<never>): Record<string, Json> {
  if (!endpoint.exports) return {}
  const { data } = endpoint.example.answer as { data: readonly ExportItem[] }
  const { columns, lines } = csvForm(endpoint)
  return {
    [mediaTypes.csv]: {
      schema: {
        type: 'string',
        description: endpoint.export_lines
          ? 'A header line, then one line for each part of each item. See Exports.'
          : 'A header line, then one line for each item. See Exports.',
      },
      example: [columns, ...data.flatMap(lines).map((line) => Object.values(line))]
        .map(csvLine)
        .join(''),
    },
    [mediaTypes.ndjson]: {
      schema: { type: 'string', description: 'One item as JSON on each line. See Exports.' },
      example: data.map((item) => `${JSON.stringify(item)}\n`).join(''),
    },
    [mediaTypes.parquet]: {
      schema: {
        type: 'string',
        format: 'binary',
        description: 'The columns of the CSV file, with types. See Exports.',
      },
    },
  }
}

/** Appended to the description of operations that support exports. */
export const export_sentence =
  'Accepts `text/csv`, `application/x-ndjson` and `application/vnd.apache.parquet`: returns all ' +
  'rows of the window as a file, or `limit` rows when it is given. See Exports.'

export const export_introduction = `
## Exports

Operations that list them among their answers return files for \`Accept: text/csv\`,
\`Accept: application/x-ndjson\` and \`Accept: application/vnd.apache.parquet\`. A file contains the items of the JSON answer. Without a \`limit\`
it covers the whole window, of any length. A series without a \`limit\` parameter is cut to
400 days. With a \`limit\` the file has the rows of that JSON answer. Wildcards in \`Accept\` select
JSON, and so does equal weight.

CSV has a header line, lines that end in LF, quotes as in RFC 4180, empty fields for \`null\` and
arrays as JSON. Each line of a matrix is one hour. Text that a spreadsheet would run as a formula
starts with an apostrophe. NDJSON has one item on each line. Both are UTF-8 and compressed on
request.

Parquet has the columns of CSV: timestamps as \`TIMESTAMP\` in UTC, days as \`DATE\`, numbers as
\`DOUBLE\` or \`INT64\`, arrays of numbers as \`LIST\`, other structures as JSON. Columns are compressed
with Zstandard. A file that was cut off has no footer, so that no reader takes it for complete.

When an export fails half-way, its connection is reset: the last chunk of the body, and the end of
the compressed stream, are missing. Treat this as an error and repeat the request.

An export counts as one request. Each key may run ${exports_max.per_key} exports at a time, and all keys of a
client together ${exports_max.per_client}. Further exports are rejected with 429 and the \`details.policy\`
\`concurrent_exports\` or \`concurrent_exports_of_client\`, or with 503 when the server is at its
limit. An export may last ${export_minutes_max} minutes. It is aborted when the server has waited ${patience.wait_s} s for
a client that reads less than ${patience.min_kib_s} KiB/s, counted before compression.
`
