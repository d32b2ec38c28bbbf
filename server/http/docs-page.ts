/**
 * The reference page: the OpenAPI document as HTML. It works without JavaScript and loads nothing
 * from other origins.
 */
import { readFileSync } from 'node:fs'
import { fieldsTable, recordLink, typeOf } from './docs-fields.ts'
import { escaped, jsonHtml, markdown, nameHtml, phrase } from './docs-html.ts'
import { errorCatalog } from './errors.ts'
import type { OpenApiDocument, Operation } from './openapi.ts'
import type { Json } from './openapi-schemas.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

export const docsStyle = read('docs-page.css')
export const docsScript = read('docs-page.js')

/** Allows the style and the script of the page only. https://www.w3.org/TR/CSP3/ */
export const docsPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function docsPage(document: OpenApiDocument): string {
  const { title, version } = document.info
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/page.css">
<script src="docs/page.js" defer></script>
</head>
<body>
<nav aria-label="Contents">
<p class="name"><a href="#top">${escaped(title)}</a> <small>${escaped(version)}</small></p>
<ul>${group('Introduction', introductionEntries(document))}</ul>
${document.tags.map(({ name }) => chapterEntries(document, name)).join('\n')}
<ul>${group('Errors', Object.keys(errorCatalog).map(errorEntry))}</ul>
<ul>${group(
    'Records',
    recordNames(document).map((name) => recordEntry(document, name)),
  )}</ul>
</nav>
<main id="top">
<header><h1>${escaped(title)}</h1>
<p>Version ${escaped(version)} · <a href="openapi.json">OpenAPI document</a></p></header>
${introduction(document)}
${document.tags.map((tag) => chapter(document, tag)).join('\n')}
${errorSection()}
${recordSection(document)}
</main>
</body>
</html>
`
}

const group = (title: string, entries: readonly string[]) =>
  `<li class="group"><a href="#${slug(title)}">${escaped(title)}</a></li>${entries.join('')}`

const slug = (title: string) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

/** `words` are further terms for the search. */
const entry = (id: string, html: string, words = '') =>
  `<li><a href="#${id}" data-words="${escaped(words.toLowerCase())}">${html}</a></li>`

const headings = ({ info }: OpenApiDocument) =>
  [...info.description.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)

const introductionEntries = (document: OpenApiDocument) =>
  headings(document).map((heading) => entry(`about-${slug(heading)}`, escaped(heading)))

const introduction = ({ info }: OpenApiDocument) =>
  `<section id="introduction">${markdown(info.description, (heading) => `about-${slug(heading)}`)}
</section>`

interface Placed {
  path: string
  method: string
  operation: Operation
}

function operationsOf({ paths }: OpenApiDocument, tag: string): Placed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

const badge = (method: string) =>
  `<span class="method ${method.toLowerCase()}">${method === 'DELETE' ? 'DEL' : method}</span>`

function chapterEntries(document: OpenApiDocument, tag: string): string {
  const entries = operationsOf(document, tag).map(({ path, method, operation }) => {
    const { operationId, summary, parameters } = operation
    const names = parameters.map(({ name = '' }) => name).join(' ')
    const words = `${tag} ${path} ${summary} ${operationId} ${names}`
    return entry(operationId, `${badge(method)} ${breakable(shortPath(path))}`, words)
  })
  return `<ul>${group(tag, entries)}</ul>`
}

const shortPath = (path: string) => path.replace('/v1/sites/{site_id}', '')
const breakable = (path: string) => escaped(path).replaceAll('/', '<wbr>/')

function chapter(document: OpenApiDocument, tag: { name: string; description: string }): string {
  const operations = operationsOf(document, tag.name).map((each) => operationHtml(document, each))
  return `<section class="chapter"><h2 id="${slug(tag.name)}">${escaped(tag.name)}</h2>
${markdown(tag.description)}
${operations.join('\n')}</section>`
}

function operationHtml(document: OpenApiDocument, { path, method, operation }: Placed): string {
  const { operationId, summary, description } = operation
  return `<article id="${operationId}">
<h3><a href="#${operationId}">${escaped(summary)}</a></h3>
<p class="path">${badge(method)} <code>${breakable(path)}</code></p>
${needs(operation)}
<div class="columns"><div>
${description === `${summary}.` ? '' : markdown(description)}
${parameterTable(document, operation)}
${bodyHtml(document, operation)}
${answerHtml(document, operation)}
${errorLine(document, operation)}
</div><div class="examples">
${curl(document, { path, method, operation })}
${exampleHtml(operation)}
</div></div>
</article>`
}

function needs(operation: Operation): string {
  const scope = operation['x-required-scope']
  const module = operation['x-module']
  const chips = [
    scope ? `scope <b>${escaped(scope)}</b>` : 'any valid key',
    ...(module ? [`module <b>${escaped(module)}</b>`] : []),
    ...(operation['x-control-write'] ? ['<b class="control">commands the plant</b>'] : []),
  ]
  return `<p class="needs">${chips.map((chip) => `<span>${chip}</span>`).join(' ')}</p>`
}

/** The parameters of an operation, with references to shared parameters resolved. */
function parametersOf({ components }: OpenApiDocument, { parameters }: Operation): Json[] {
  return parameters.map((parameter) => {
    const name = String(parameter['$ref'] ?? '').replace('#/components/parameters/', '')
    return components.parameters[name] ?? parameter
  })
}

function parameterTable(document: OpenApiDocument, operation: Operation): string {
  const rows = parametersOf(document, operation).map((parameter) => {
    const { name, description, required, example } = parameter
    const place = parameter['in'] === 'query' ? '' : ` <small>${parameter['in']}</small>`
    const schema = parameter['schema'] as Json
    const must = required ? ' <em>required</em>' : ''
    return `<tr><td><code>${nameHtml(String(name))}</code>${place}${must}</td>
<td>${typeOf(schema)}</td>
<td>${phrase(String(description))}${bounds(schema)}
<span class="example">${jsonHtml(example)}</span></td></tr>`
  })
  if (rows.length === 0) return ''
  return `<h4>Parameters</h4><table><tbody>${rows.join('\n')}</tbody></table>`
}

/** The maximum of ids, which is not shown. */
const integer_max = 2_147_483_647

function bounds(schema: Json): string {
  const said = [
    ['default', schema['default']],
    ['at least', schema['minimum']],
    ['at most', schema['maximum']],
  ].filter(([, value]) => value !== undefined && value !== integer_max)
  return said.map(([word, value]) => ` <small>${word} ${escaped(String(value))}</small>`).join('')
}

/** Schema and example of a body or an answer. */
function contentOf(holder: Json | undefined): { schema: Json; example: unknown } | null {
  const content = holder?.['content'] as Record<string, Json> | undefined
  const json = content?.['application/json']
  return json ? { schema: json['schema'] as Json, example: json['example'] } : null
}

function bodyHtml({ components }: OpenApiDocument, { requestBody }: Operation): string {
  const body = contentOf(requestBody)
  return body ? `<h4>Body</h4>${fieldsTable(body.schema, components.schemas, 'request')}` : ''
}

const promised = ({ responses }: Operation) => Object.entries(responses)[0]!

function answerHtml({ components }: OpenApiDocument, operation: Operation): string {
  const [status, response] = promised(operation)
  const answer = contentOf(response)
  if (!answer) return `<h4>Answer <b>${status}</b> without a body</h4>`
  return `<details class="answer"><summary><h4>Answer <b>${status}</b></h4>
${recordLink(answer.schema)}</summary>
${fieldsTable(answer.schema, components.schemas, 'answer')}</details>`
}

function errorLine({ components }: OpenApiDocument, { responses }: Operation): string {
  const links = Object.values(responses).flatMap((response) => {
    const name = String(response['$ref'] ?? '').replace('#/components/responses/', '')
    const content = components.responses[name]?.['content'] as Record<string, Json> | undefined
    const examples = content?.['application/json']?.['examples'] as object | undefined
    return Object.keys(examples ?? {}).map((code) => `<a href="#error-${code}">${code}</a>`)
  })
  return `<details class="errors"><summary><h4>Errors</h4> ${links.length} codes</summary>
<p>${links.join(' ')}</p></details>`
}

function curl(document: OpenApiDocument, { path, method, operation }: Placed): string {
  const parameters = parametersOf(document, operation)
  const example = (name: string) =>
    String(parameters.find((parameter) => parameter['name'] === name)?.['example'] ?? name)
  const query = parameters
    .filter((parameter) => parameter['in'] === 'query' && parameter['required'])
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join('&')
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example(name))
  const body = contentOf(operation.requestBody)
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$BASE_URL${address}${query && `?${query}`}"`,
    '-H "Authorization: Bearer $API_KEY"',
    ...(method === 'GET' ? [] : ['-H "Idempotency-Key: $(uuidgen)"']),
    ...(body ? ['-H "Content-Type: application/json"', `-d '${quoted(body.example)}'`] : []),
  ]
  return figure('Request', 'curl', escaped(lines.join(' \\\n  ')))
}

const figure = (caption: string, kind: string, html: string) =>
  `<figure><figcaption>${caption}</figcaption>
<pre class="${kind}" tabindex="0"><code>${html}</code></pre></figure>`

const quoted = (value: unknown) => JSON.stringify(value, null, 2).replaceAll("'", "'\\''")

function exampleHtml(operation: Operation): string {
  const [status, response] = promised(operation)
  const answer = contentOf(response)
  if (!answer) return ''
  return figure(`Answer ${status}`, 'json', jsonHtml(answer.example))
}

const errorEntry = (code: string) => entry(`error-${code}`, code)

function errorSection(): string {
  const rows = Object.entries(errorCatalog).map(
    ([code, { status, message, action }]) =>
      `<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td>
<td>${phrase(message)}</td><td>${phrase(action)}</td></tr>`,
  )
  return `<section class="chapter"><h2 id="errors">Errors</h2>
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>What to do</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></section>`
}

/** Records of answers; bodies are shown at their operation. */
const recordNames = ({ components }: OpenApiDocument) =>
  Object.keys(components.schemas).filter((name) => !/(Body|List|Series)$/.test(name))

const recordEntry = ({ components }: OpenApiDocument, name: string) =>
  entry(
    `record-${name}`,
    name,
    Object.keys((components.schemas[name]?.['properties'] as object) ?? {}).join(' '),
  )

function recordSection(document: OpenApiDocument): string {
  const { schemas } = document.components
  const records = recordNames(document).map(
    (name) => `<article id="record-${name}"><h3><a href="#record-${name}">${name}</a></h3>
${fieldsTable({ $ref: `#/components/schemas/${name}` }, schemas, 'answer')}</article>`,
  )
  return `<section class="chapter"><h2 id="records">Records</h2>
<p>The objects in answers. Every field is always present.</p>
${records.join('\n')}</section>`
}
