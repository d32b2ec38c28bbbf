/**
 * `npm run generate`: openapi.json and operations.txt (the API on one page, for reviewers) from the
 * table of endpoints; the circuits of the panel models that come with the program, fitted to their
 * datasheets; docs/site-file.md from the schema of `site.yaml`; the schema of profiles for editors,
 * and docs/devices.md from the profiles; types of the answers of the platform, for its pages; and
 * `sdk/generated`, which is not committed. With `--check` it writes nothing, lists outdated files
 * and exits 1.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NumberRegister, Profile, Register } from '@heliograph/domain/profile'
import { generateSdk } from '@heliograph/sdk/generate'
import { endpoints } from '../server/endpoints.ts'
import type { Endpoint } from '../server/http/endpoint.ts'
import { isControl, openApi, openApiText } from '../server/http/openapi.ts'
import { ownCircuitsText } from '../server/performance/panels/own-circuits.ts'
import { eventCatalogue } from '../server/push/catalogue.ts'
import { deviceTable } from './device-table.ts'
import { iec104Document } from './iec104-document.ts'
import { platformTypes } from './platform-types.ts'
import { siteReference } from './site-reference.ts'

const root = join(import.meta.dirname, '..')
const is_check = process.argv.includes('--check')
const document = openApiText(openApi(endpoints, eventCatalogue))
const generated = [
  ['openapi.json', document],
  ['operations.txt', operationsText(endpoints)],
  ['server/performance/panels/own-circuits.json', ownCircuitsText()],
  ['docs/site-file.md', siteReference()],
  ['edge/profiles/profile.schema.json', profileSchemaText()],
  ['docs/devices.md', deviceTable()],
  ['docs/iec104-interoperability.md', iec104Document()],
  ['web/generated/platform.ts', await platformTypes()],
] as [name: string, text: string][]

for (const [name, text] of generated) {
  const path = join(root, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (is_check) outdated(name)
  else writeFileSync(path, text)
}
if (!is_check) await generateSdk()
function outdated(name: string): void {
  process.exitCode = 1
  process.stderr.write(`${name} is out of date: run node scripts/generate.ts\n`)
}

/** The schema of profiles for editors, which repeats the one of a register by reference. */
function profileSchemaText(): string {
  const $schema = 'http://json-schema.org/draft-07/schema#'
  const definitions = { NumberRegister, Register }
  const names = new Map(
    Object.entries(definitions).map(([name, schema]) => [JSON.stringify(schema), name]),
  )
  const shared = JSON.stringify({ $schema, title: 'Heliograph profile', ...Profile }, (_, part) => {
    const name = names.get(JSON.stringify(part))
    return name ? { $ref: `#/definitions/${name}` } : part
  })
  return `${JSON.stringify({ ...JSON.parse(shared), definitions }, null, 2)}\n`
}

/** One line per operation: method, path, scope, module, remarks. */
function operationsText(table: readonly Endpoint<never>[]): string {
  const rows = table.map((endpoint) => [
    endpoint.method,
    endpoint.path,
    endpoint.scope ?? '-',
    endpoint.module ?? '-',
    remarks(endpoint),
  ])
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map((row) => row.map((cell, at) => cell.padEnd(widths[at]!)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** Caps, a status other than 200, forms beside JSON, and whether the plant is commanded. */
function remarks(endpoint: Endpoint<never>): string {
  const caps = Object.entries(endpoint.query ?? {}).flatMap(([name, schema]) => {
    const cap = (schema as { 'x-cap'?: number })['x-cap']
    return cap === undefined ? [] : [`${name}≤${cap}`]
  })
  const { status = 200 } = endpoint
  return [
    ...caps,
    ...(endpoint.cursor ? ['cursor'] : []),
    ...(status === 200 ? [] : [String(status)]),
    ...(endpoint.exports ? ['csv', 'ndjson', 'parquet'] : []),
    ...(isControl(endpoint) ? ['control'] : []),
  ].join(' ')
}
