/** README.md and the guides typed into a shell: every example does what the text around it says. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { raiseAlert } from './alert.ts'
import { history_ms_max } from './history.ts'
import { noCurl, type Shell, shell } from './shell.ts'
import { stage } from './stage.ts'

const root = join(import.meta.dirname, '../..')
/** Chapters whose examples run on the demo, in the order in which they are typed. */
const chapters: readonly [document: string, chapter: string][] = [
  ['README.md', 'Start'],
  ['docs/guides/use-the-api.md', 'Read'],
  ['docs/guides/battery-first-day.md', 'Plan, approve, dispatch'],
  ['docs/guides/curtail-and-prove.md', 'Limit a plant'],
  ['docs/guides/use-the-api.md', 'Alerts, work, reports'],
  ['docs/guides/use-the-api.md', 'From a shell'],
]
/** Starts the demo, on which this test runs already. */
const start = 'npm ci && npm start'

/** A statement ends with its line, unless that is continued or within quotes. */
function statementsOf([document, chapter]: (typeof chapters)[number]): string[] {
  const text = readFileSync(join(root, document), 'utf8')
  const [, own = ''] = text.split(`\n## ${chapter}\n`)
  const [until = ''] = own.split('\n## ')
  const blocks = [...until.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code = '']) => code)
  assert.ok(blocks.length > 0, `${document} has no example under "${chapter}"`)
  return blocks.flatMap(
    (code) => code.match(/^(?:\\\n|[^'"\n]|'[^']*'|"[^"]*")+$/gm) ?? assert.fail(code),
  )
}

const setsVariables = (statement: string) => /^(export )?[A-Z_]+=/.test(statement)

interface Answer {
  text: string
  /** The folder in which files are written. */
  cwd: string
}

/** The first id of each kind in an answer, which replaces its placeholder in later examples. */
function idsIn({ text }: Answer): Map<string, string> {
  const [, group_id] = /^Group (\S+)$/m.exec(text) ?? []
  if (group_id) return new Map([['GROUP_ID', group_id]])
  const found = [...text.matchAll(/"(schedule|group|alert|wo|sub|run)_id":"?([\w-]+)/g)]
  return new Map(
    found.toReversed().map(([, name = '', id = '']) => [`${name.toUpperCase()}_ID`, id]),
  )
}

type Promised = (answer: Answer) => void

const json =
  (check: (body: ReturnType<typeof JSON.parse>) => void): Promised =>
  ({ text }) =>
    check(JSON.parse(text))
const isBroken = ({ status }: { status: string }) => /underperforming|critical|dead/.test(status)
const some = (list: unknown) => assert.ok(Array.isArray(list) && list.length > 0)

/** A part of every example in turn, and the check of its answer. */
const promised: readonly [part: string, check: Promised][] = [
  ['/v1/sites', json(({ data }) => assert.equal(data[0].site_id, 'demo'))],
  ['/plant/status', json(({ quality }) => assert.equal(quality, 'good'))],
  ['/inverters/1/history?limit=3', json(({ data }) => assert.equal(data.length, 3))],
  ['/efficiency/health-matrix', json(({ data }) => assert.equal(data.filter(isBroken).length, 4))],
  ['/predictions/forecast', json(({ data }) => assert.equal(data.length, 3))],
  ['/alarms/decode', json(({ alarms }) => assert.ok(alarms[0].name))],
  ['/efficiency/health-matrix', json(({ data }) => assert.equal(data.filter(isBroken).length, 4))],
  ['/iv/strings/2/4/expected', ({ text }) => assert.match(text, /"meta"/)],
  ['/energy/hourly', json(({ data }) => assert.equal(data[0].hours.length, 24))],
  [
    '-o history.csv',
    ({ cwd }) => {
      const [head = '', ...rows] = readFileSync(join(cwd, 'history.csv'), 'utf8').split('\n')
      assert.match(head, /measured_at/)
      assert.ok(rows.length > 10_000)
    },
  ],
  ['/predictions/forecast', json(({ data }) => assert.equal(data.length, 3))],
  ['/markets/DEMO/prices', json(({ data }) => some(data))],
  ['/earnings/summary', json(({ net_amount, known }) => assert.ok(net_amount ?? known))],
  ['/bess/1/clusters/0', json(({ cell_voltages_mv }) => some(cell_voltages_mv))],
  ['/bess/1/optimize', json(({ schedule_id }) => assert.ok(schedule_id))],
  ['/approve', json(({ status }) => assert.match(status, /approved|dispatching/))],
  ['/bess/1/dashboard', json(({ unit }) => assert.equal(unit.bess_id, 1))],
  ['/curtailment/immediate', json(({ status }) => assert.equal(status, 'active'))],
  ['"$API/curtailment"', json(({ data }) => assert.ok(data[0].applied_at))],
  ['-X DELETE', json(({ schedules }) => assert.ok(schedules[0].cancelled_at))],
  ['"$API/alerts"', json(({ data }) => some(data))],
  ['/acknowledge', json(({ status }) => assert.equal(status, 'acknowledged'))],
  ['"$API/work-orders"', json(({ checklist }) => some(checklist))],
  ['-X PUT', json(({ status }) => assert.equal(status, 'in_progress'))],
  ['"$API/defects"', json(({ wo_id }) => assert.ok(wo_id))],
  ['/om/notifications', json(({ data }) => some(data))],
  ['/reports/catalog', json(({ data }) => some(data))],
  ['"$API/reports/subscriptions"', json(({ next_run_at }) => assert.ok(next_run_at))],
  ['/run"', json(({ run_id }) => assert.ok(run_id))],
  ['/reports/runs"', json(({ data }) => assert.equal(data[0].status, 'succeeded'))],
  [
    '-o report.pdf',
    ({ cwd }) => assert.match(readFileSync(join(cwd, 'report.pdf'), 'latin1'), /^%PDF-/),
  ],
  ['get plant-status', ({ text }) => assert.match(text, /ac_power_kw/)],
  ['get inverters-history', ({ text }) => assert.ok(text.length > 10_000)],
  ['heliograph curtail', ({ text }) => assert.match(text, /^1 +240 +active$/m)],
  ['heliograph release', ({ text }) => assert.match(text, /^status +(cancelled|releasing)$/m)],
]

/** Time for the jobs of the server, which run each minute, and for the sums of the history. */
const patience_ms = history_ms_max

test('the examples of README.md and the guides do what they say', {
  skip: noCurl,
  timeout: 900_000,
}, async (t) => {
  const { base_url, key_file } = stage.demo
  const cwd = mkdtempSync(join(tmpdir(), 'heliograph-readme-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'))
  symlinkSync(dirname(key_file), join(cwd, 'data'))
  const environment = { HELIOGRAPH_URL: base_url }
  const here: Shell = { cwd, environment, curl: '--fail-with-body -sS' }
  const ids = new Map<string, string>()
  const fill = (statement: string) =>
    statement
      // The prompt for confirmation has nobody to answer it.
      .replace(/ (curtail|release) /, ' $1 --yes ')
      .replaceAll('http://127.0.0.1:8080', base_url)
      .replaceAll(/\b[A-Z]+_ID\b/g, (name) => ids.get(name) ?? assert.fail(`no ${name} yet`))
  const statements = chapters.flatMap(statementsOf).filter((statement) => statement !== start)
  const examples = statements.filter((statement) => !setsVariables(statement))
  assert.deepEqual(
    examples.map((example, nth) => example.includes(promised[nth]?.[0] ?? '?') || example),
    promised.map(() => true),
  )
  await raiseAlert(stage.demo)
  let before = ''
  for (const statement of statements) {
    const typed = fill(statement)
    if (setsVariables(statement)) {
      before += `${typed}\n`
      continue
    }
    const [part, check] = promised[examples.indexOf(statement)]!
    await t.test(part, async () => {
      const answer = await answered(here, { before, typed }, check)
      for (const [name, id] of idsIn(answer)) {
        if (isWrite(typed) || !ids.has(name)) ids.set(name, id)
      }
    })
  }
})

interface Typed {
  before: string
  typed: string
}

const isWrite = (typed: string) => / -[dX] | (curtail|release) /.test(typed)

/**
 * Repeats a read until its answer passes the check; a write is sent once, and again if the server
 * refused it for the number of writes in a minute.
 */
async function answered(here: Shell, { before, typed }: Typed, check: Promised): Promise<Answer> {
  // Until prices of tomorrow are published, the server forecasts them some minutes after its start.
  const is_once = isWrite(typed) && !typed.includes('/optimize')
  const until_ms = performance.now() + (is_once ? 0 : patience_ms)
  for (;;) {
    const { status, stdout, stderr } = await shell(here, `${before}${typed}`)
    try {
      assert.equal(status, 0)
      const answer = { text: stdout, cwd: here.cwd }
      check(answer)
      return answer
    } catch (error) {
      const said = `${typed}\n${stdout.slice(0, 2000)}\n${stderr}\n${(error as Error).message}`
      const retry_after_s = /"rate_limited".*"retry_after_s":(\d+)/.exec(stdout)?.[1]
      if (retry_after_s === undefined && performance.now() > until_ms) {
        throw new Error(said, { cause: error })
      }
      await wait(1000 * Number(retry_after_s ?? (isWrite(typed) ? 5 : 1)))
    }
  }
}
