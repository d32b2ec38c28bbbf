import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { endpoints } from '../endpoints.ts'
import { jsonHtml, markdown } from './docs-html.ts'
import { docsPage } from './docs-page.ts'
import { documents } from './documents.ts'
import { endpoint } from './endpoint.ts'
import { errorCatalog } from './errors.ts'
import { openApi } from './openapi.ts'

const document = openApi(endpoints)
const page = docsPage(document)
const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)

test('every operation, error and record has its place, once', () => {
  const expected = [
    ...endpoints.map(({ operation_id }) => operation_id),
    ...Object.keys(errorCatalog).map((code) => `error-${code}`),
    'record-Error',
  ]
  assert.deepEqual(
    expected.filter((id) => !ids.includes(id)),
    [],
  )
  assert.equal(new Set(ids).size, ids.length)
})

test('every link on the page leads somewhere', () => {
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  assert.deepEqual(
    links.filter((id) => !ids.includes(id)),
    [],
  )
})

test('what is loaded is served beside it, and nothing runs inline', () => {
  const served = documents(endpoints, []).map(({ path }) => path)
  const loaded = [...page.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, address]) => address!)
  assert.deepEqual(
    loaded.filter((address) => address !== 'data:,' && !served.includes(`/${address}`)),
    [],
  )
  assert.doesNotMatch(page, /<style|<script>| style="| on[a-z]+="/)
})

test('every element that is opened is closed', () => {
  const open: string[] = []
  for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)/g)) {
    if (/^(meta|link|wbr)$/.test(name)) continue
    if (slash) assert.equal(open.pop(), name)
    else open.push(name)
  }
  assert.deepEqual(open, [])
})

test('text of the document is never markup', () => {
  const info = { ...document.info, title: '<b>"&' }
  assert.match(docsPage({ ...document, info }), /<h1>&lt;b&gt;&quot;&amp;<\/h1>/)
  assert.equal(markdown('a `<i>` & b'), '<p>a <code>&lt;i&gt;</code> &amp; b</p>')
  assert.equal(
    jsonHtml({ a: '<b>' }),
    '{ <span class="name">&quot;a&quot;</span>: <span class="text">&quot;&lt;b&gt;&quot;</span> }',
  )
})

test('Markdown: headings with their id, lists, paragraphs', () => {
  assert.equal(
    markdown('## One two\n\nText\n\n- a\n- b', (heading) => heading.length.toString()),
    '<h2 id="7">One two</h2>\n<p>Text</p>\n<ul><li>a</li><li>b</li></ul>',
  )
})

test('JSON is shown on one line where it fits, and whole', () => {
  const value = { list: [1, -2.5e3, null], text: 'a "b": 1', empty: {}, deep: { on: true } }
  const text = jsonHtml(value)
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
  assert.deepEqual(JSON.parse(text), value)
  assert.match(text, /"list": \[1, -2500, null\],\n/)
})

test('the request that is shown can be pasted into a shell', () => {
  const write = endpoint({
    method: 'PUT',
    path: '/defects/{defect_id}',
    operation_id: 'defects_change',
    tag: 'Defects',
    scope: 'om:write',
    module: 'om',
    summary: 'Change a defect',
    params: { defect_id: Type.Integer({ description: 'A defect.' }) },
    query: { why: Type.String({ description: 'Reason.', examples: ['a & b'] }) },
    body: Type.Object({ title: Type.String() }),
    returns: Type.Object({ defect_id: Type.Integer() }),
    example: { body: { title: "it's <broken>" }, answer: { defect_id: 7 } },
    handle: async () => ({ defect_id: 7 }),
  })
  const text = docsPage(openApi([write as never]))
  const [, shown = ''] = /<pre class="curl" tabindex="0"><code>(.*?)<\/code>/s.exec(text) ?? []
  const lines = [
    'curl -X PUT "$BASE_URL/v1/sites/demo/defects/7?why=a%20%26%20b" \\',
    '  -H "Authorization: Bearer $API_KEY" \\',
    '  -H "Idempotency-Key: $(uuidgen)" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{\n  "title": "it'\\''s <broken>"\n}'`,
  ]
  const plain = shown
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
  assert.equal(plain, lines.join('\n'))
})
