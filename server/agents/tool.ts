/** Tools for agents. They call operations as the key of the agent and answer with a short text. */
import type { Static, TObject, TProperties } from 'typebox'
import type { Method, Scope } from '../http/endpoint.ts'
import { Closed } from '../http/params.ts'
import type { Asker } from '../http/serve-options.ts'

export interface Tool<Input = never> {
  name: string
  title: string
  /** What it answers, and which tool comes next. */
  description: string
  /** Agents whose key lacks one of them do not see the tool. */
  scopes: readonly Scope[]
  /** The tool makes a proposal, which a person decides. */
  proposes?: true
  input: TObject
  run(input: Input, agent: Agent): Promise<string>
}

/** Checks the types of a tool and erases them, so that all tools fit one table. */
export const tool = <Input extends TProperties>(
  definition: Omit<Tool<Static<TObject<Input>>>, 'input'> & { input: Input },
): Tool => ({ ...definition, input: Closed(definition.input) }) as unknown as Tool

/** A list as operations answer it. */
export interface Listed<Item> {
  data: Item[]
  meta: { count: number; next_cursor?: string | null }
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

export interface Agent {
  /** Throws the refusal of the operation. */
  read<Answer>(path: string, query?: Query): Promise<Answer>
  write<Answer>(path: string, body: object): Promise<Answer>
  /** The address of a page of the site. */
  page(site_id: string, path: string): string
}

/** The error of an operation, which the agent reads. */
export class Refusal extends Error {}

/** @param base the address of the pages */
export function agentOf({ call }: Asker, base: string): Agent {
  async function ask<Answer>(method: Method, url: string, body?: object): Promise<Answer> {
    const answer = await call(method, url, body)
    if (answer.status < 400) return answer.body as Answer
    const { error } = answer.body as { error: { code: string; message: string; details: unknown } }
    const details = error.details ? ` ${JSON.stringify(error.details)}` : ''
    throw new Refusal(`${error.code}: ${error.message}${details}`)
  }
  return {
    read: (path, query = {}) => ask('GET', `${path}${searchOf(query)}`),
    write: (path, body) => ask('POST', path, body),
    page: (site_id, path) => `${base}/sites/${encodeURIComponent(site_id)}${path}`,
  }
}

export const siteUrl = (site_id: string, path: string) =>
  `/v1/sites/${encodeURIComponent(site_id)}${path}`

function searchOf(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) search.append(name, String(one))
  }
  return search.size > 0 ? `?${search}` : ''
}

const rows_max = 30

/** Markdown table; the heads are fields of the API, whose names end with their unit. */
export function table<Item extends object>(
  items: readonly Item[],
  fields: readonly (keyof Item & string)[],
): string {
  if (items.length === 0) return 'None.'
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const shown = items.slice(0, rows_max)
  return [
    line(fields),
    line(fields.map(() => '---')),
    ...shown.map((item) => line(fields.map((field) => cell(item[field])))),
    ...(items.length > shown.length ? [`${items.length - shown.length} more are not shown.`] : []),
  ].join('\n')
}

/** `field: value` lines of what is known. */
export const lines = <Item extends object>(item: Item, fields: readonly (keyof Item & string)[]) =>
  fields
    .map((field) => [field, cell(item[field])] as const)
    .filter(([, text]) => text !== '')
    .map(([field, text]) => `${field}: ${text}`)
    .join('\n')

const cell_characters_max = 300

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(Number(value.toPrecision(6)))
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  const instant = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(\.\d+)?)?Z$/.exec(text)
  if (instant) return `${instant[1]}Z`
  const open = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
  return open.length > cell_characters_max ? `${open.slice(0, cell_characters_max)}…` : open
}

/** null when no item has a value. */
export function sumOf<Item extends object>(items: readonly Item[], field: keyof Item) {
  const known = items.map((item) => item[field]).filter((value) => typeof value === 'number')
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null
}

/** Sums of amounts by currency, as `12.3 EUR, 4 BGN`. */
export function moneyOf<Item extends { currency: string | null }>(
  items: readonly Item[],
  field: keyof Item,
): string {
  const sums = [...Map.groupBy(items, ({ currency }) => currency)].flatMap(([currency, own]) => {
    const sum = sumOf(own, field)
    return sum === null || currency === null ? [] : [`${sum.toFixed(2)} ${currency}`]
  })
  return sums.join(', ') || (items.length === 0 ? 'none' : 'unknown')
}
