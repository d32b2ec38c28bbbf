/** What is polled of batteries, and what becomes of each answer. */
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import { type Battery, clusterUnits, type Pcs } from '@heliograph/domain/battery'
import type { LinkEvent } from '@heliograph/domain/link'
import type { PcsReading } from '@heliograph/domain/readings'
import { AlarmWatch } from './alarm-watch.ts'
import type { Source } from './conditions.ts'
import { fresh_polls } from './control/device-record.ts'
import type { BatteryAnswer, BatteryDevice, PcsAnswer, PcsDevice } from './drivers/driver.ts'
import { createHeartbeat, type Heartbeat } from './heartbeat.ts'
import type { Stamp } from './plant-clock.ts'
import { having, type Plan, type PlanNeeds, plan } from './poll-plan.ts'
import { pcsRatingEvent } from './rating-watch.ts'
import { createFireWatch, heartbeatEvents } from './read-alarms.ts'

/** What a battery's PCS told last, by `pcs_idx`. */
type PcsTold = Map<number, Told>

interface Told
  extends Pick<
    PcsReading,
    | 'measured_at'
    | 'ac_power_kw'
    | 'setpoint_kw'
    | 'energy_injected_total_kwh'
    | 'energy_absorbed_total_kwh'
  > {}

export function batteryPlans(battery: Battery, needs: PlanNeeds): Plan<unknown>[] {
  const told: PcsTold = new Map()
  const connections = new Set(clusterUnits(battery).map(({ connection }) => connection))
  const parts = [...connections].map((connection) => partOn(battery, connection))
  return [
    // The PCS first: the battery's reading is to know what they told.
    ...battery.pcs.map((pcs) => pcsPlan(pcs, { battery, told, needs })),
    bessPlan(battery, told, needs),
    ...parts.flatMap((part) => [clustersPlan(part, needs), cellsPlan(part, needs)]),
    setupPlan(battery, needs),
  ]
}

interface Part {
  /** Its clusters are only those on `connection`. */
  battery: Battery
  connection: string
  /** Behind the ids of its plans, where there are several parts. */
  suffix: string
}

function partOn(battery: Battery, connection: string): Part {
  const { clusters } = battery.bms
  if (!clusters) return { battery, connection, suffix: '' }
  const here = clusters.filter((one) => one.connection === connection)
  const suffix = here.length === clusters.length ? '' : `.${connection}`
  return {
    battery: { ...battery, bms: { ...battery.bms, clusters: here } },
    connection,
    suffix,
  }
}

function bessPlan(battery: Battery, told: PcsTold, needs: PlanNeeds) {
  const { bess_id, bms } = battery
  const { recorder, intervals, batteries } = needs
  const interval_ms = intervals.battery_s * 1000
  const source: Source = { source_kind: 'bess', source_id: String(bess_id) }
  const alarms = alarmsOf(source, needs)
  const fire = createFireWatch(needs.conditions, source)
  const driver = needs.driverOf(bms.driver)
  let device: BatteryDevice | null = null
  let heartbeat: Heartbeat = createHeartbeat(interval_ms)
  return plan<BatteryAnswer>({
    kind: 'bess',
    id: String(bess_id),
    interval_ms,
    connection_id: bms.connection,
    description: battery,
    async open(bus) {
      device = await having(driver, 'openBattery', bms.driver)(bus, battery)
      heartbeat = createHeartbeat(interval_ms)
      return device
    },
    onRead(answer, stamp) {
      const heartbeat_ok = heartbeat.onCount(answer.heartbeat)
      if (device) batteries?.onBattery(bess_id, { device, answer, heartbeat_ok, stamp })
      const since = stamp.measured_at - fresh_polls * interval_ms
      const pcs = (name: keyof Told) => sumOf(battery, told, { name, since })
      const { battery: values } = answer
      recorder.reading('bess', {
        ...values,
        bess_id,
        // What is planned and paid is what passes the connection, not what the cells see.
        power_kw: pcs('ac_power_kw') ?? values.power_kw,
        setpoint_kw: values.setpoint_kw ?? pcs('setpoint_kw'),
        charged_total_kwh: values.charged_total_kwh ?? pcs('energy_absorbed_total_kwh'),
        discharged_total_kwh: values.discharged_total_kwh ?? pcs('energy_injected_total_kwh'),
        heartbeat_ok: asNumber(heartbeat_ok),
        ...stamp,
      })
      const { measured_at: at } = stamp
      const beats = { count: answer.heartbeat, is_ok: heartbeat_ok, at }
      return [
        ...alarms(values, answer.alarm_table, stamp),
        ...heartbeatEvents(needs.conditions, source, beats),
        ...fire(values.fire_system_state, at),
      ]
    },
    onGone: () => batteries?.onGone(bess_id, null),
  })
}

function pcsPlan(
  pcs: Pcs,
  { battery, told, needs }: { battery: Battery; told: PcsTold; needs: PlanNeeds },
) {
  const { bess_id } = battery
  const { pcs_idx } = pcs
  const { recorder, intervals, batteries } = needs
  const interval_ms = intervals.battery_s * 1000
  const id = `${bess_id}.${pcs_idx}`
  const source: Source = { source_kind: 'pcs', source_id: id }
  const alarms = alarmsOf(source, needs)
  const driver = needs.driverOf(pcs.driver)
  let device: PcsDevice | null = null
  let heartbeat: Heartbeat = createHeartbeat(interval_ms)
  return plan<PcsAnswer>({
    kind: 'pcs',
    id,
    interval_ms,
    connection_id: pcs.connection,
    description: [pcs, driver.revision],
    async open(bus) {
      device = await having(driver, 'openPcs', pcs.driver)(bus, pcs)
      heartbeat = createHeartbeat(interval_ms)
      return device
    },
    onRead(answer, stamp, poll) {
      const heartbeat_ok = heartbeat.onCount(answer.heartbeat)
      const control = device?.control ?? null
      batteries?.onPcs(bess_id, pcs_idx, { control, answer, heartbeat_ok, stamp, poll })
      const values = answer.pcs
      told.set(pcs_idx, { ...values, ...stamp })
      recorder.reading('pcs', { ...values, bess_id, pcs_idx, ...stamp })
      const { measured_at: at } = stamp
      const beats = { count: answer.heartbeat, is_ok: heartbeat_ok, at }
      const built_kw = answer.pcs.max_discharge_power_kw
      const { conditions } = needs
      const rating = pcsRatingEvent(built_kw, { bess_id, ...pcs }, { conditions, at })
      return [
        ...(rating ? [rating] : []),
        ...alarms(answer.pcs, answer.alarm_table, stamp),
        ...heartbeatEvents(conditions, source, beats),
      ]
    },
    onGone() {
      told.delete(pcs_idx)
      batteries?.onGone(bess_id, pcs_idx)
    },
  })
}

/** Of the PCS together; null as long as not each of them told one since `since`. */
function sumOf(
  { pcs }: Battery,
  told: PcsTold,
  { name, since }: { name: keyof Told; since: number },
): number | null {
  return pcs.reduce<number | null>((sum, { pcs_idx }) => {
    const one = told.get(pcs_idx)
    const value = one && one.measured_at >= since ? one[name] : null
    return sum === null || value === null ? null : sum + value
  }, 0)
}

function clustersPlan({ battery, connection, suffix }: Part, needs: PlanNeeds) {
  const { bess_id, bms } = battery
  const { recorder, intervals } = needs
  const driver = needs.driverOf(bms.driver)
  const watches = new Map<number, ReturnType<typeof alarmsOf>>()
  const sourceOf = (cluster_idx: number) => `${bess_id}.cluster.${cluster_idx}`
  const watchOf = (cluster_idx: number) => {
    const source = { source_kind: 'bess', source_id: sourceOf(cluster_idx) } as const
    const watch = watches.get(cluster_idx) ?? alarmsOf(source, needs)
    watches.set(cluster_idx, watch)
    return watch
  }
  return plan({
    kind: 'bess',
    id: `${bess_id}.clusters${suffix}`,
    interval_ms: intervals.cluster_s * 1000,
    connection_id: connection,
    description: battery,
    tells_of: Array.from({ length: battery.cluster_count }, (_, nth) => sourceOf(nth)),
    open: (bus) => having(driver, 'openClusters', bms.driver)(bus, battery),
    onRead({ clusters, alarm_table }, stamp) {
      return clusters.flatMap((cluster) => {
        recorder.reading('cluster', { ...cluster, bess_id, ...stamp })
        return watchOf(cluster.cluster_idx)(cluster, alarm_table, stamp)
      })
    },
  })
}

/** One cluster at a time is never asked for sooner than so long after the last. */
const cells_ms_min = 1000

function cellsPlan({ battery, connection, suffix }: Part, { recorder, ...needs }: PlanNeeds) {
  const { bess_id, bms, cluster_count } = battery
  const driver = needs.driverOf(bms.driver)
  const each_ms = Math.floor((needs.intervals.cells_s * 1000) / cluster_count)
  return plan({
    kind: 'bess',
    id: `${bess_id}.cells${suffix}`,
    interval_ms: Math.max(cells_ms_min, each_ms),
    connection_id: connection,
    description: battery,
    open: (bus) => having(driver, 'openCells', bms.driver)(bus, battery),
    onRead(cells, stamp) {
      recorder.reading('cells', { ...cells, bess_id, ...stamp })
      return []
    },
  })
}

/** Read as often as the cells: it is one request. Told whole at first and when it changed. */
function setupPlan(battery: Battery, { recorder, ...needs }: PlanNeeds) {
  const { bess_id, bms } = battery
  const driver = needs.driverOf(bms.driver)
  let told = ''
  let told_at = 0
  return plan({
    kind: 'bess',
    id: `${bess_id}.setup`,
    interval_ms: needs.intervals.cells_s * 1000,
    connection_id: bms.connection,
    description: battery,
    open: (bus) => having(driver, 'openSetup', bms.driver)(bus, battery),
    onRead(setup, { measured_at: read_at }) {
      const state = JSON.stringify(setup)
      if (state === told && read_at > told_at) {
        // Under a key of its own: it takes the place of none that waits for the journal.
        recorder.tell('battery_setup', `${bess_id}.reread`, { bess_id, read_at, told_at })
        return []
      }
      recorder.tell('battery_setup', String(bess_id), { ...setup, bess_id, read_at })
      told = state
      told_at = read_at
      return []
    },
  })
}

type Words = Parameters<AlarmWatch['poll']>[0]

/** The events of the alarm words of one source. */
function alarmsOf(source: Source, { conditions }: PlanNeeds) {
  const watch = new AlarmWatch(source, conditions)
  return (words: Words, table_id: string | null, { measured_at }: Stamp): LinkEvent[] => {
    if (table_id === null) return []
    const table = findAlarmTable(table_id)
    if (!table) throw new Error(`the driver names no alarm table: '${table_id}'`)
    return watch.poll(words, table, measured_at)
  }
}

const asNumber = (is: boolean | null) => (is === null ? null : Number(is))
