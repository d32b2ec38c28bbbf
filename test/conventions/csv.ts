/** Reads CSV as RFC 4180 says; null is an empty field without quotes, as PostgreSQL writes it. */
export function parseCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = []
  let record: (string | null)[] = []
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n)/y
  while (field.lastIndex < text.length) {
    const at = field.lastIndex
    const match = field.exec(text)
    if (!match) throw new Error(`no CSV from ${at}: ${text.slice(at, at + 80)}`)
    const [, value = '', end] = match
    const is_quoted = value.startsWith('"')
    record.push(is_quoted ? value.slice(1, -1).replaceAll('""', '"') : value || null)
    if (end === ',') continue
    records.push(record)
    record = []
  }
  return records
}

/** The records under their header, each field read by `values`; null stays null. */
export function readCsv(text: string, values: (name: string, field: string) => unknown) {
  const [names = [], ...records] = parseCsv(text)
  return records.map((record) => {
    if (record.length !== names.length) throw new Error(`a record of ${record.length} fields`)
    return Object.fromEntries(
      record.map((field, at) => [names[at]!, field === null ? null : values(names[at]!, field)]),
    )
  })
}
