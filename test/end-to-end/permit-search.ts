/** Looks for figures of the permit in everything that a server says or keeps. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '@heliograph/server/endpoints'
import type { Database } from '@heliograph/server/storage/database'
import type { Programs } from './programs.ts'

/** Digits that stand alone: no part of a longer number, or of an id, is meant. */
function figureIn(watts: number): RegExp {
  const kw = String(watts / 1000)
  const mw = String(watts / 1e6)
  const forms = [kw, kw.replace('.', ','), mw, String(watts)].map((form) =>
    form.replaceAll('.', '\\.'),
  )
  return new RegExp(`(?<![\\w.])(?:${forms.join('|')})0*(?![\\w]|\\.\\d)`)
}

/** A value for each parameter of a path, and for each that is required of a query. */
const parameters: Readonly<Record<string, string>> = {
  logger_id: '1',
  inverter_id: '1',
  string_index: '0',
  start_hour: '8',
  end_hour: '20',
  date: new Date().toISOString().slice(0, 10),
}

export interface Searched {
  /** Where a figure stands, with what is around it. */
  found: string[]
  /** Texts that were looked through, and answers of 200 among them. */
  texts: number
  answers: number
  characters: number
}

export interface Place {
  programs: Programs
  key: string
  db: Database
  metrics_ports: readonly number[]
}

/** In every answer to a GET, also as a file, in all tables as text, in the logs and the metrics. */
export async function searchFor(watts: readonly number[], place: Place): Promise<Searched> {
  const figures = watts.map(figureIn)
  const searched: Searched = { found: [], texts: 0, answers: 0, characters: 0 }
  for await (const { name, text, is_answer } of textsOf(place)) {
    searched.texts += 1
    searched.characters += text.length
    if (is_answer) searched.answers += 1
    for (const figure of figures) {
      const match = figure.exec(text)
      if (!match) continue
      const around = text.slice(Math.max(0, match.index - 200), match.index + 100)
      searched.found.push(`${name}: ${around}`)
    }
  }
  return searched
}

interface Text {
  name: string
  text: string
  is_answer?: boolean
}

async function* textsOf(place: Place): AsyncGenerator<Text> {
  yield* answersOf(place)
  for (const port of place.metrics_ports) {
    yield { name: 'metrics', text: await textAt(`http://127.0.0.1:${port}/metrics`) }
  }
  for (const name of ['server', 'edge'] as const) {
    const file = join(place.programs.dir, `${name}.log`)
    if (existsSync(file)) yield { name: `${name}.log`, text: readFileSync(file, 'utf8') }
  }
  yield* tablesOf(place.db)
}

const textAt = async (url: string) => (await fetch(url)).text()

async function* answersOf({ programs: { api, site }, key }: Place): AsyncGenerator<Text> {
  yield { name: 'document', text: await textAt(`${api}/openapi.json`) }
  for (const { method, path, query, exports } of endpoints) {
    if (method !== 'GET') continue
    const below = path.replaceAll(/\{(\w+)\}/g, (_, name) => parameters[name] ?? '1')
    const required = Object.entries(query ?? {})
      .filter(([, schema]) => !('~optional' in (schema as object)))
      .map(([name]) => `${name}=${parameters[name] ?? '1'}`)
    const address = path === '/v1/sites' ? path : `/v1/sites/${site.site_id}${below}`
    const ids = /\{(?:logger|inverter)_id\}/.test(path) ? ['1', '2'] : ['1']
    for (const id of ids) {
      const url = `${api}${ids.length > 1 ? address.replace('/1', `/${id}`) : address}`
      for (const accept of exports ? ['application/json', 'text/csv'] : ['application/json']) {
        const headers = { authorization: `Bearer ${key}`, accept }
        const answer = await fetch(`${url}?${required.join('&')}`, { headers })
        const text = [...answer.headers].join('\n') + (await answer.text())
        yield { name: `${url} ${accept}`, text, is_answer: answer.status === 200 }
      }
    }
  }
}

async function* tablesOf(db: Database): AsyncGenerator<Text> {
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition
       and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  )
  for (const { name } of tables) {
    const rows = await db.query<{ line: string }>(`select t::text as line from ${name} as t`)
    yield { name, text: rows.map(({ line }) => line).join('\n') }
  }
}
