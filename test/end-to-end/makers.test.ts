/**
 * Server and edge as they run in production hold one device of each maker: from the request over
 * HTTP to the registers, through the loss of the edge, and back to the permit.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { writeSealedPermit } from './edge-program.ts'
import { enrol } from './enrol.ts'
import { clientOf, type Item, openField } from './makers-field.ts'
import { devices, makersSite, permitOf, permitText, ratedOf, shareOf } from './makers-site.ts'
import { programsIn } from './programs.ts'
import { writeTable } from './write-log.ts'

const patience_ms = 60_000
const again_ms = 200
const limit_pct = 40

test('each maker is held to a limit and back to the permit, whatever becomes of the edge', {
  timeout: 150_000,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-makers-'))
  const permit_file = join(dir, 'permit.yaml')
  writeSealedPermit(permit_file, permitText)
  const programs = await programsIn(dir, makersSite(new Date()), { PERMIT_FILE: permit_file })
  const field = await openField(programs)
  t.after(async () => {
    await programs.endAll()
    await field.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const until = async (what: string, isTrue: () => Promise<boolean>) => {
    const late = Date.now() + patience_ms
    while (!(await isTrue())) {
      const words = () => `${JSON.stringify(field.steps.slice(-20))}\n${programs.lastWords('edge')}`
      assert.ok(Date.now() < late, `waited in vain: ${what}\n${words()}`)
      await wait(again_ms)
    }
  }
  programs.start('server')
  programs.start('simulator')
  await until('the devices answer', () => field.isThere())
  for (const device of devices) await device.leave(field.registersOf(device))
  await programs.serverIsReady()
  const scopes = ['plant:read', 'curtailment:read', 'curtailment:write'] as const
  const api = clientOf(programs, await enrol(programs, { scopes }))
  programs.start('edge', field.settings)

  const stands = async (plantOf: (logger_id: number) => number) => {
    const wrong = await Promise.all(
      devices.map(async (one) => {
        const allowed_w = await field.allowedOf(one)
        return Math.abs(allowed_w - shareOf(one, plantOf(one.logger_id))) > 0.01
      }),
    )
    return !wrong.includes(true)
  }
  const permitted = () => stands(permitOf)
  const limited = () => stands((logger_id) => (ratedOf(logger_id) * limit_pct) / 100)
  const told = async (limited_by: string) => {
    const { data } = await api.get('/inverters')
    return data.length === 8 && data.every((one) => one['limited_by'] === limited_by)
  }

  /** A raise is two writes: what the timer of a device leads to comes after its limit. */
  const armedFor = async (one: (typeof devices)[number], share_w: number) => {
    const unarmed = () => one.unarmed(field.registersOf(one), share_w)
    await until(`${one.name} is armed`, async () => (await unarmed()).length === 0)
    assert.deepEqual(await unarmed(), [], one.name)
  }

  await until('the permit holds each device', permitted)
  const armed = field.steps.length
  for (const one of devices) {
    const share_w = shareOf(one, permitOf(one.logger_id))
    await armedFor(one, share_w)
  }
  await until('the readings tell of the permit', () => told('permit'))
  const untold = async () => {
    const { data } = await api.get('/inverters')
    return devices.flatMap((one) => {
      const reading = data.find(({ inverter_id }) => inverter_id === one.unit_id)
      const share_pct = (100 * shareOf(one, permitOf(one.logger_id))) / (one.max_w ?? one.rated_w)
      const limit_pct = reading?.['power_limit_pct'] as number
      const is_told = !reading || Math.abs(limit_pct - share_pct) < 0.1
      return is_told ? [] : [`${one.name}: ${limit_pct} % of ${share_pct} %`]
    })
  }
  await until('the readings tell the share of each', async () => (await untold()).length === 0)
  assert.deepEqual(await untold(), [])

  const body = { scope: 'site', limit_mode: 'percent', limit_value: limit_pct }
  const group = await api.post('/curtailment/immediate', body)
  const rows = async () => (await api.get('/curtailment')).data
  await until('it is applied and verified', async () => {
    const found = await rows()
    return found.length === 2 && found.every((row) => row['applied_at'] && row['verified_at'])
  })
  assert.ok(await limited())
  await until('the readings tell of the curtailment', () => told('curtailment'))
  for (const row of await rows()) {
    const most_kw = (ratedOf(row['logger_id'] as number) * limit_pct) / 100_000
    assert.equal(row['max_power_kw'], most_kw)
    assert.ok((row['observed_power_kw'] as number) <= most_kw * 1.01, JSON.stringify(row))
  }

  await programs.end('edge', 'SIGKILL')
  assert.ok(await limited(), 'the limits outlive the edge')
  const releasing = api.release(group['group_id'] as string)
  programs.start('edge', field.settings)
  assert.ok(['releasing', 'cancelled'].includes((await releasing)['status'] as string))
  await until('the permit holds each device again', permitted)
  await until('the release is proven', async () => {
    const { status, schedules } = await api.release(group['group_id'] as string)
    return status === 'cancelled' && (schedules as Item[]).every((row) => row['restored_at'])
  })
  await until('the readings tell of the permit again', () => told('permit'))
  assert.ok(await permitted())

  for (const one of devices) {
    const share_w = shareOf(one, permitOf(one.logger_id))
    const steps = field.steps.slice(armed).filter(({ name }) => name === one.name)
    const highest_w = Math.max(...steps.map(({ allowed_w }) => allowed_w))
    assert.ok(highest_w <= share_w + 0.01, `${one.name}: ${highest_w} W of ${share_w} W`)
    await armedFor(one, share_w)
    const functions = new Set(field.writesTo(one).map(({ function_code }) => function_code))
    assert.deepEqual([...functions], [one.wants_single ? 6 : 16], one.name)
  }
  const heeded = field.writesTo(devices.find(({ name }) => name === 'SMA')!)
  assert.deepEqual(heeded[0]!.words, [0, 802], 'SMA ignores what is set before 40151 is 802')
  // It applies each seconds later, and is not told again meanwhile: permit, limit, permit.
  const commands = field.writesTo(devices.find(({ name }) => name === 'Huawei SmartLogger')!)
  assert.deepEqual(
    commands.map(({ words }) => words),
    [[870], [(limit_pct - 1) * 10], [870]],
  )
  t.diagnostic(`Writes of the edge:\n${writeTable(field.log, field.log.length)}`)
  t.diagnostic(`${field.steps.length} looks at registers, ${field.writes.length} writes`)
})
