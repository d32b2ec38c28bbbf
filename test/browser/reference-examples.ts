/** Every call that the reference page shows, run in a shell: the server takes it as it stands. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ask } from './browser.ts'
import { noCurl, type Shell, shell } from './shell.ts'
import { asAdministrator, stage } from './stage.ts'

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

const callsIn = (html: string) =>
  [...html.matchAll(/<pre class="curl"[^>]*><code>(.*?)<\/code>/gs)].map(([, code = '']) =>
    code.replaceAll(/<[^>]+>/g, '').replaceAll(/&\w+;|&#\d+;/g, (one) => entities[one] ?? one),
  )

/** What examples name need not be at the demo, nor be in the state that they take. */
const isTaken = (status: number) => status < 400 || status === 404 || status === 409

test('the server takes every call of the reference', {
  skip: noCurl,
  timeout: 600_000,
}, async () => {
  const { base_url, key_file } = stage.demo
  const page = await (await fetch(`${base_url}/docs`)).text()
  const calls = callsIn(page)
  const { paths } = (await (await fetch(`${base_url}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  const count = Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0)
  assert.equal(calls.length, count)
  const environment = {
    BASE_URL: base_url,
    API_KEY: readFileSync(key_file, 'utf8').trim(),
  }
  const here = { cwd: tmpdir(), environment, curl: "-sS -w '\\n%{http_code} %header{retry-after}'" }
  const refused: string[] = []
  for (const call of calls) {
    const answer = await answered(here, call)
    if (!isTaken(answer.status)) refused.push(`${call}\n${answer.status} ${answer.text}`)
  }
  assert.deepEqual(refused, [])
})

/** Where a machine has none. */
const uuidgen = 'command -v uuidgen > /dev/null || uuidgen() { cat /proc/sys/kernel/random/uuid; }'

/** A key has fewer calls a minute than there are: the rest are made with another key. */
async function answered(here: Shell, call: string) {
  for (;;) {
    const { stdout, stderr } = await shell(here, `${uuidgen}\n${call}`)
    const [, text = '', status = '', retry_after_s = ''] =
      /^(.*)\n(\d+) (\d*)$/s.exec(stdout) ?? assert.fail(`${call}\n${stdout}${stderr}`)
    if (status !== '429') return { status: Number(status), text: text.slice(0, 500) }
    if (stage.administrator)
      here.environment['API_KEY'] = await keyLike(here.environment['API_KEY']!)
    else await wait(Number(retry_after_s) * 1000)
  }
}

/** A new key with the scopes of this one. */
async function keyLike(key: string): Promise<string> {
  let made = ''
  await asAdministrator(async (window) => {
    const { data } = await ask<{ data: { key_prefix: string; scopes: string[] }[] }>(
      window,
      '/platform/keys',
    )
    const like = data.find(({ key_prefix }) => key.startsWith(key_prefix))
    const body = { name: `Example ${data.length}`, scopes: like!.scopes }
    ;({ key: made } = await ask<{ key: string }>(window, '/platform/keys', {
      method: 'POST',
      body,
    }))
  })
  return made
}
