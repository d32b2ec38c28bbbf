/**
 * `heliograph-edge check --yes` tries limits where no edge runs; and
 * what becomes of a device when that command is killed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { program_environment } from '../program-environment.ts'
import { edge_program, writeSealedPermit } from './edge-program.ts'
import { openField } from './makers-field.ts'
import { devices, makersSite, permitOf, permitText, shareOf } from './makers-site.ts'
import { programsIn } from './programs.ts'

const patience_ms = 150_000
const again_ms = 200
/** The controller of a plant is named by its plant. */
const nameOf = ({ name, logger_id }: (typeof devices)[number]) =>
  logger_id === 2 ? 'Controller of Behind a controller' : name

/** Each takes some seconds. */
const tried_names = ['SMA', 'Huawei SmartLogger']

test('a limit is tried by the command alone, and a killed one lifts nothing', {
  timeout: 400_000,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-commissioning-'))
  const permit_file = join(dir, 'permit.yaml')
  writeSealedPermit(permit_file, permitText)
  // A busy machine delays polls: stale devices would keep control from raising.
  const site = { ...makersSite(new Date()), poll: { inverter_s: 2 } }
  const programs = await programsIn(dir, site)
  const field = await openField(programs)
  const running = new Set<ReturnType<typeof spawn>>()
  t.after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await programs.endAll()
    await field.close()
    rmSync(dir, { recursive: true, force: true })
  })
  programs.start('simulator')
  const until = async (what: string, isTrue: () => Promise<boolean>) => {
    const late = Date.now() + patience_ms
    while (!(await isTrue())) {
      assert.ok(Date.now() < late, `waited in vain: ${what}`)
      await wait(again_ms)
    }
  }
  await until('the devices answer', () => field.isThere())
  for (const device of devices) await device.leave(field.registersOf(device))
  const out = join(dir, 'protocol')
  const check = (...names: string[]) => {
    const options = ['--out', out, '--force', '--yes', ...names]
    const child = spawn(process.execPath, [edge_program, 'check', ...options], {
      env: {
        ...program_environment,
        EDGE_DATA_DIR: programs.edge_dir,
        PERMIT_FILE: permit_file,
        ...field.settings,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    running.add(child)
    let notes = ''
    child.stderr.on('data', (piece: Buffer) => {
      notes += piece
    })
    return { child, exit: once(child, 'exit'), notes: () => notes }
  }
  const sharesOf = (device: (typeof devices)[number]) => shareOf(device, permitOf(device.logger_id))
  const atShare = async () => {
    const allowed = await Promise.all(devices.map((device) => field.allowedOf(device)))
    return devices.every((device, nth) => Math.abs(allowed[nth]! - sharesOf(device)) < 0.01)
  }

  const tried_devices = devices.filter(({ name }) => tried_names.includes(name))
  const all = check(...tried_devices.map(nameOf))
  await all.exit
  const { tried_limits, tests } = JSON.parse(readFileSync(`${out}.json`, 'utf8'))
  const trial_tests = tests.filter((one: { test: string }) => /tried limit|found$/.test(one.test))
  assert.deepEqual(
    trial_tests.filter((one: { result: string }) => one.result === 'failed'),
    [],
    all.notes(),
  )
  for (const device of tried_devices) {
    const tried = tried_limits.find((one: { device: string }) => one.device === nameOf(device))
    assert.equal(tried.not_tried, null, `${device.name}: ${tried.not_tried}\n${all.notes()}`)
    assert.ok(tried.read_back_s !== null && tried.returned_s !== null, device.name)
  }
  assert.ok(await atShare())

  const [device] = devices
  const killed = check(device!.name)
  await until('the trial has begun', async () => {
    return (await field.allowedOf(device!)) < 0.7 * sharesOf(device!)
  })
  killed.child.kill('SIGKILL')
  await killed.exit
  const steps = field.steps.length
  await wait(2000)
  assert.ok((await field.allowedOf(device!)) < 0.7 * sharesOf(device!))
  const again = check(devices[1]!.name)
  await until('control gives the limit back', async () => {
    return (await field.allowedOf(device!)) >= sharesOf(device!) - 0.01
  })
  await again.exit
  assert.ok(await atShare())
  const above = field.steps.slice(steps).filter(({ name, allowed_w }) => {
    return allowed_w > sharesOf(devices.find((one) => one.name === name)!) + 0.01
  })
  assert.deepEqual(above, [])
})
