/** The forms of a series beside JSON, as the OpenAPI document and its introduction tell them. */
import type { Endpoint } from './endpoint.ts'
import { export_minutes_max, exports_max, mediaTypes, patience } from './export.ts'
import { csvForm, csvLine, type ExportItem } from './export-items.ts'
import type { Json } from './openapi-schemas.ts'

/** Further content of the promised answer, by media type; its examples are those of the JSON. */
export function exportContent(endpoint: Endpoint<never>): Record<string, Json> {
  if (!endpoint.exports) return {}
  const { data } = endpoint.example.answer as { data: readonly ExportItem[] }
  const { columns, lines } = csvForm(endpoint)
  return {
    [mediaTypes.csv]: {
      schema: {
        type: 'string',
        description: endpoint.export_lines
          ? 'A line of field names, then the lines of each item, its parts one by one: see Exports.'
          : 'A line of field names, then a line for each item: see Exports.',
      },
      example: [columns, ...data.flatMap(lines).map((line) => Object.values(line))]
        .map(csvLine)
        .join(''),
    },
    [mediaTypes.ndjson]: {
      schema: { type: 'string', description: 'An item as JSON on each line: see Exports.' },
      example: data.map((item) => `${JSON.stringify(item)}\n`).join(''),
    },
  }
}

/** What the description of such an operation says of it. */
export const export_sentence =
  'As `text/csv` or `application/x-ndjson` all rows of the window come as a file unless `limit` ' +
  'is given: see Exports.'

export const export_introduction = `
## Exports

An extension: where an operation lists them among its answers, \`Accept: text/csv\` and
\`Accept: application/x-ndjson\` give the items of the JSON answer as a file. Without a \`limit\`
it holds the whole window, of whatever length, or the 400 days of a series that has no limit; with
one, the rows of that JSON answer. JSON is
what \`Accept\` gives by a wildcard, and what is answered where both are liked as much. CSV has a
line of field names, lines that end in LF, quotes as in RFC 4180, an empty field for \`null\`
and arrays as JSON; of a matrix each line is an hour. A text that a spreadsheet would take for a formula has an apostrophe in front.
NDJSON has an item on each line. Both are UTF-8 and compressed on request.

A file that breaks off is never ended in order: its connection is reset, so that the last chunk of
the body (and the end of the compressed stream) is missing. Treat what your HTTP client then
reports as an error, and ask again. An export counts as one request; ${exports_max.per_key} may run
at a time for each key and ${exports_max.per_client} for all keys of a client. A further one gets 429 with
\`details.policy\` \`concurrent_exports\` or \`concurrent_exports_of_client\`; 503 says that the server
runs as many as it can. One lasts ${export_minutes_max} minutes at most. It ends early where the server waited ${patience.wait_s} s
for a reader that took less than ${patience.min_kib_s} KiB/s in that time, counted before compression.
`
