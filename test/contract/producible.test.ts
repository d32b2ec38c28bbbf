/**
 * The document offers no value that nothing can produce. Approximate: a word of an enumeration
 * must stand in a source beside its declaration, and a nullable field must not be `null` wherever
 * the server sets it.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { endpoints } from '../../server/endpoints.ts'
import { openApi } from '../../server/http/openapi.ts'

const root = join(import.meta.dirname, '../..')
const by_people = 'people set it, in requests, in site.yaml or on the command line'
const by_devices = 'a word of the edge link that drivers of further batteries report'

/** Schema and field, with why words of it are kept that no source has. */
const keptWords: Record<string, string> = {
  'BatteryProtection.action': by_devices,
  'BatteryProtection.parameter': by_devices,
  'BatteryUnit.coupling': by_people,
  'Cluster.connection_failure_reason': by_devices,
  'ClusterCells.connection_failure_reason': by_devices,
  'Defect.detection_method': by_people,
  'Defect.type': by_people,
  'DefectChange.detection_method': by_people,
  'DefectChange.type': by_people,
  'EarningsFee.code': by_people,
  'FeeTerms.code': by_people,
  'Location.type': by_people,
  'Market.source': by_people,
  'MarketPrice.source': by_people,
  'NewDefect.detection_method': by_people,
  'NewDefect.type': by_people,
  'NewWorkOrder.type': by_people,
  'OmNotification.type': 'a comment is written by people',
  'PcsNow.grid_mode': by_devices,
  'PcsReading.grid_mode': by_devices,
  'ScheduleInputs.price_source': by_people,
  'SensorNode.type': by_people,
  'StringHealth.suspected_cause': 'not filled yet: needs tracker devices and snow sensors',
  'WeatherSensor.type': by_people,
  'WholeWorkOrder.type': by_people,
  'WorkOrder.type': by_people,
  'WorkOrderChange.type': by_people,
}

/** Nullable fields that are null until something measures them; each is marked in the document. */
const keptNulls: Record<string, string> = {
  capacity_price_per_mwh: 'needs prices of cross-border capacity',
}

const isSource = (path: string) => !/\.test\.ts$|\/fixtures\/|example|node_modules/.test(path)
const sources = globSync('{domain,edge,simulator,server,forecast,optimize,physics,cli}/**/*.ts', {
  cwd: root,
})
  .filter(isSource)
  .map((path) => withoutDeclarations(readFileSync(join(root, path), 'utf8')))
  .join('\n')

/** Without comments, lists of words and types of words, which say what there may be. */
function withoutDeclarations(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '')
    .replace(/= \[[^\]]*\] as const/g, '= []')
    .replace(/Type\.Enum\(\s*\[[^\]]*\]/g, 'Type.Enum([]')
    .replace(/^\s*\| '[^']*'$/gm, '')
    .replace(/^[^\n]*: '\w+'( \| ('\w+'|null))+,?$/gm, '')
    .replace(/^(export )?type \w+ =[^\n]*(\n\s+\|[^\n]*)*/gm, '')
}

const { schemas } = openApi(endpoints).components as {
  schemas: Record<string, unknown>
}

/** Every field of the document below a schema, by its path of names. */
function* fieldsOf(node: unknown, path: string[]): Generator<{ path: string[]; words: string[] }> {
  if (typeof node !== 'object' || node === null) return
  if ('enum' in node && Array.isArray(node.enum)) {
    yield { path, words: node.enum.filter((word) => typeof word === 'string') }
  }
  for (const [name, child] of Object.entries(node)) {
    const is_structure = /^(properties|items|anyOf|oneOf|allOf|\d+)$/.test(name)
    yield* fieldsOf(child, is_structure ? path : [...path, name])
  }
}

test('every word of an enumeration can be produced, or is kept for a reason', () => {
  const lacking = new Map<string, string[]>()
  for (const [schema, node] of Object.entries(schemas)) {
    for (const { path, words } of fieldsOf(node, [schema])) {
      const unknown = words.filter(
        (word) => !new RegExp(`'${word}'|"${word}"|(?<![\\w.])${word}:`).test(sources),
      )
      if (unknown.length > 0) lacking.set(path.join('.'), unknown)
    }
  }
  const unexplained = [...lacking].filter(([field]) => !(field in keptWords))
  assert.deepEqual(unexplained, [])
  const idle = Object.keys(keptWords).filter((field) => !lacking.has(field))
  assert.deepEqual(idle, [], 'take them off the list')
})

test('no field is null wherever the server sets it, but for those marked as not filled yet', () => {
  const nullable = new Map<string, string[]>()
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    if ('properties' in node && typeof node.properties === 'object') {
      for (const [name, field] of Object.entries(node.properties ?? {})) {
        const text = JSON.stringify(field)
        if (!text.includes('"null"')) continue
        nullable.set(name, [...(nullable.get(name) ?? []), text])
      }
    }
    Object.values(node).forEach(visit)
  }
  visit(schemas)
  const always = [...nullable.keys()].filter((name) => {
    if (!sources.includes(`${name}: null`)) return false
    // A declaration is a type of the schema or of TypeScript, no value.
    const rest = sources
      .replaceAll(new RegExp(`\\b${name}: null\\b`, 'g'), '')
      .replaceAll(
        new RegExp(
          `\\b${name}\\??: (Nullable|Type\\.|[A-Z]\\w*\\(|number|string|boolean|Date)`,
          'g',
        ),
        '',
      )
    return !new RegExp(`\\b${name}\\b`).test(rest)
  })
  assert.deepEqual(always.toSorted(), Object.keys(keptNulls).toSorted())
  for (const name of always) {
    assert.match(nullable.get(name)!.join(), /Not filled yet/, name)
  }
})
