/** What is to be polled at a site, and what becomes of each answer. */
import type { AlarmTable } from '@heliograph/domain/alarms/table'
import { findAlarmTable } from '@heliograph/domain/alarms/tables'
import type { NumberRegister } from '@heliograph/domain/profile'
import type { InverterReading, WeatherReading } from '@heliograph/domain/readings'
import type { Combiner, Inverter, Logger, Meter, Site, Station } from '@heliograph/domain/site'
import { AlarmWatch } from './alarm-watch.ts'
import { batteryPlans } from './battery-polls.ts'
import { controllerKey } from './control/device-name.ts'
import { fresh_polls } from './control/device-record.ts'
import type {
  ControllerAnswer,
  ControllerDevice,
  InverterAnswer,
  InverterDevice,
} from './drivers/driver.ts'
import { having, type Plan, type PlanNeeds, plan } from './poll-plan.ts'
import { ratingEvent } from './rating-watch.ts'
import { combinerStrings, ownStrings, planStrings, type StringPlan } from './string-readings.ts'

export function pollPlans(site: Site, needs: PlanNeeds): Plan<unknown>[] {
  const inverters = site.loggers.flatMap((logger) => logger.inverters)
  const stations = site.loggers.flatMap((logger) => logger.stations ?? [])
  return [
    ...site.loggers.flatMap((logger) => (logger.controller ? [controllerPlan(logger, needs)] : [])),
    ...inverters.flatMap((inverter) => {
      const strings = planStrings(inverter)
      return [
        inverterPlan(inverter, strings, needs),
        ...(inverter.combiners ?? []).map((combiner) =>
          combinerPlan({ combiner, inverter, strings }, needs),
        ),
      ]
    }),
    ...stations.map((station) => stationPlan(station, needs)),
    ...(site.meters ?? []).map((meter) => meterPlan(meter, needs)),
    ...(site.batteries ?? []).flatMap((battery) => batteryPlans(battery, needs)),
  ]
}

function inverterPlan(inverter: Inverter, strings: StringPlan, needs: PlanNeeds) {
  const { inverter_id } = inverter
  const { recorder, conditions, newest, intervals, control } = needs
  const driver = needs.driverOf(inverter.driver)
  const power_register = driver.profile?.inverter?.readings.ac_power_kw
  const source = { source_kind: 'inverter', source_id: String(inverter_id) } as const
  const alarms = new AlarmWatch(source, conditions)
  let device: InverterDevice | null = null
  return plan<InverterAnswer>({
    kind: 'inverter',
    id: String(inverter_id),
    interval_ms: intervals.inverter_s * 1000,
    connection_id: inverter.connection,
    description: [inverter, driver.revision],
    async open(bus) {
      device = await having(driver, 'openInverter', inverter.driver)(bus, inverter)
      return device
    },
    onRead(answer, stamp, poll) {
      const table = answer.alarm_table === null ? null : alarmTableOf(answer.alarm_table)
      const frame = { inverter_id, ...stamp }
      const { ac_power_kw } = answer.inverter
      control?.onRead(inverter_id, {
        control: device?.control ?? null,
        limit: answer.limit,
        power_w: powerForControl(ac_power_kw, power_register),
        poll,
      })
      const limited_by = control?.limitedBy(inverter_id) ?? null
      const reading: InverterReading = { ...answer.inverter, limited_by, ...frame }
      newest.inverters.set(inverter_id, reading)
      recorder.reading('inverter', reading)
      for (const row of ownStrings(strings, answer)) {
        recorder.reading('string', { ...row, ...frame })
      }
      const rating = ratingEvent(answer.ratings, inverter, { conditions, at: stamp.measured_at })
      const raised = table ? alarms.poll(reading, table, stamp.measured_at) : []
      return [...(rating ? [rating] : []), ...raised]
    },
    onGone() {
      newest.inverters.delete(inverter_id)
      control?.onGone(inverter_id)
    },
  })
}

/** A value of one source alone is read, and limits nothing: control counts without it. */
const powerForControl = (power_kw: number | null, register?: NumberRegister | null) =>
  power_kw === null || register?.unconfirmed ? null : power_kw * 1000

/** @throws Error for a name without a table */
function alarmTableOf(name: string): AlarmTable {
  const table = findAlarmTable(name)
  if (table) return table
  throw new Error(`the driver names no alarm table: '${name}'`)
}

/** A device that limits all inverters of a plant; what they measure they tell themselves. */
function controllerPlan(logger: Logger, needs: PlanNeeds): Plan<unknown> {
  const { conditions, intervals, control } = needs
  const { logger_id, controller, inverters } = logger
  const source = { source_kind: 'logger', source_id: String(logger_id) } as const
  const key = controllerKey(logger_id)
  const driver = needs.driverOf(controller!.driver)
  const alarm_watch = new AlarmWatch(source, conditions)
  let device: ControllerDevice | null = null
  return plan<ControllerAnswer>({
    kind: 'logger',
    id: String(logger_id),
    interval_ms: intervals.inverter_s * 1000,
    connection_id: controller!.connection,
    description: [controller, inverters, driver.revision],
    async open(bus) {
      device = await having(driver, 'openController', controller!.driver)(bus, logger)
      return device
    },
    onRead({ limit, active_power_kw, foreign_control, alarms }, { measured_at: at }, poll) {
      control?.onRead(key, {
        // Whom it does not obey cannot limit by it.
        control: foreign_control === null ? (device?.control ?? null) : null,
        limit,
        power_w: active_power_kw === null ? null : active_power_kw * 1000,
        poll,
      })
      const name = `the controller of plant ${logger_id}`
      const condition = { ...source, code: 'foreign_control', severity: 'major' } as const
      const event =
        foreign_control === null
          ? conditions.fall(source, condition.code, { at, message: `${name} obeys the edge` })
          : conditions.rise(condition, { at, message: `${name} obeys ${foreign_control}` })
      const table = alarms && alarmTableOf(alarms.table)
      const raised = table ? alarm_watch.poll(alarms.words, table, at) : []
      return [...(event ? [event] : []), ...raised]
    },
    onGone: () => control?.onGone(key),
  })
}

function combinerPlan(
  { combiner, inverter, strings }: { combiner: Combiner; inverter: Inverter; strings: StringPlan },
  { recorder, newest, intervals, driverOf }: PlanNeeds,
) {
  const { inverter_id } = inverter
  const interval_ms = intervals.inverter_s * 1000
  const driver = driverOf(combiner.driver)
  return plan({
    kind: 'combiner',
    id: combiner.combiner_id,
    interval_ms,
    connection_id: combiner.connection,
    description: [combiner, inverter.string_groups],
    open: (bus) => having(driver, 'openCombiner', combiner.driver)(bus, combiner),
    onRead(values, stamp) {
      const reading = newest.inverters.get(inverter_id)
      const is_fresh =
        reading && stamp.measured_at - reading.measured_at <= fresh_polls * interval_ms
      const mppt_voltage_v = is_fresh ? reading.mppt_voltage_v : null
      const row = combinerStrings(strings, combiner, { values, mppt_voltage_v })
      recorder.reading('string', { ...row, inverter_id, ...stamp })
      return []
    },
  })
}

function stationPlan(
  station: Station,
  { recorder, newest, intervals, driverOf }: PlanNeeds,
): Plan<unknown> {
  const { station_id } = station
  const driver = driverOf(station.driver)
  return plan({
    kind: 'station',
    id: String(station_id),
    interval_ms: intervals.weather_s * 1000,
    connection_id: station.connection,
    description: [station, driver.revision],
    open: (bus) => having(driver, 'openStation', station.driver)(bus, station),
    onRead(values, stamp) {
      const reading: WeatherReading = { ...values, station_id, ...stamp }
      newest.stations.set(station_id, reading)
      recorder.reading('weather', reading)
      return []
    },
    onGone: () => newest.stations.delete(station_id),
  })
}

function meterPlan(
  meter: Meter,
  { recorder, intervals, driverOf, control }: PlanNeeds,
): Plan<unknown> {
  const { meter_id } = meter
  const driver = driverOf(meter.driver)
  const power_register = driver.profile?.meter?.readings.active_power_kw
  return plan({
    kind: 'meter',
    id: String(meter_id),
    interval_ms: intervals.meter_s * 1000,
    connection_id: meter.connection,
    description: [meter, driver.revision],
    open: (bus) => having(driver, 'openMeter', meter.driver)(bus, meter),
    onRead(values, stamp, poll) {
      const power_w = powerForControl(values.active_power_kw, power_register)
      control?.onMeter(meter_id, power_w, poll?.round_at)
      recorder.reading('meter', { ...values, meter_id, ...stamp })
      return []
    },
  })
}
