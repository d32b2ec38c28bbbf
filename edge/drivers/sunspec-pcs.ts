/**
 * Power conversion systems by SunSpec models: measurements (701, 101 to 103, 111 to 113), ratings
 * (702, 120), DC side (714), setpoint (704, 124, 123), control authority (715).
 */
import type { Pcs } from '@heliograph/domain/battery'
import { emptyReading } from '@heliograph/domain/readings'
import { classicGridSide, columnsFrom, type PointsOf } from '@heliograph/domain/sunspec/grid-side'
import { pcsStateOf, stateFromInvSt, stateFromSt } from '@heliograph/domain/sunspec/states'
import type { Answer, Bus, PcsAnswer, PcsDevice } from './driver.ts'
import { plausible, type Range } from './plausible.ts'
import { placeOf } from './sunspec-battery.ts'
import { openUnit } from './sunspec-battery-unit.ts'
import { type Chain, describe } from './sunspec-chain.ts'
import { derValues, kilo } from './sunspec-grid-side.ts'
import { inverterModels, sum } from './sunspec-inverter.ts'
import { createPower, type SunspecPower } from './sunspec-pcs-control.ts'
import { powerParts } from './sunspec-pcs-registers.ts'
import { createReader, type Snapshot } from './sunspec-snapshot.ts'

type PcsValues = PcsAnswer['pcs']

const extras: readonly number[] = [702, 704, 714, 715, 120, 122, 124]

export async function openPcs(bus: Bus, pcs: Pcs): Promise<PcsDevice> {
  const { unit_id, wmaxlimpct_is_setpoint = false } = pcs
  const unit = await openUnit(bus, pcs, async (chain) => {
    checkPcs(chain, pcs)
    const power = createPower({ bus, unit_id, models: chain.models, wmaxlimpct_is_setpoint })
    // Makes the control available from the first contact on.
    await power?.open()
    const wanted = chain.models.filter(
      (one) => (one.occurrence === 0 && isWanted(one.model_id)) || power?.models.includes(one),
    )
    return { power, read: createReader(bus, unit_id, { wanted, parts: powerParts }) }
  })
  return {
    get identity() {
      return unit.identity
    },
    get control() {
      return unit.found?.power?.control ?? null
    },
    read: () => unit.ask(async ({ read, power }) => pcsAnswer(await read(), pcs, power)),
  }
}

const measuring: readonly number[] = inverterModels
const isWanted = (id: number) => measuring.includes(id) || extras.includes(id)

function checkPcs({ models: found, identity }: Chain, pcs: Pcs) {
  if (found.some(({ model_id }) => measuring.includes(model_id))) return
  const has = found.map(({ model_id }) => model_id).join(', ')
  const name = `${describe(pcs)} (${identity.manufacturer} ${identity.model})`
  throw new Error(`${name} is no power conversion system: it has models ${has}`)
}

function pcsAnswer(snapshot: Snapshot, pcs: Pcs, power: SunspecPower | null): Answer<PcsAnswer> {
  const [der] = snapshot.all(701)
  const [classic] = der ? [] : snapshot.all(101, 102, 103, 111, 112, 113)
  const [access] = snapshot.all(715)
  const state = power?.onRead(snapshot) ?? null
  const measured: PcsValues = {
    ...emptyReading('pcs'),
    ...(classic && classicValues(classic.values)),
    ...(der && newerValues(der.values)),
    ...dcValues(snapshot),
    ...ratingValues(snapshot),
    ...(power && !power.can_charge ? { max_charge_power_kw: 0 } : {}),
    insulation_resistance_kohm: kilo(snapshot.all(122)[0]?.values.Ris ?? null),
    setpoint_kw: kilo(state?.setpoint_w ?? null),
    control_place: placeOf(access?.values.LocRemCtl ?? null),
  }
  const { complaints, missing } = snapshot
  return {
    values: {
      pcs: plausible(withClassicDc(measured, classic?.values), complaints, pcsRanges(pcs)),
      alarm_table: der ? 'sunspec-701' : 'sunspec-inverter',
      heartbeat: access?.values.DERHb ?? null,
      power: state,
    },
    complaints,
    missing,
  }
}

function classicValues(points: PointsOf<103 | 113>): Partial<PcsValues> {
  return {
    ...columnsFrom(classicGridSide, points),
    state: pcsStateOf(stateFromSt(points.St)),
    state_vendor_code: points.StVnd,
    energy_injected_total_kwh: kilo(points.WH),
  }
}

/** With this bit set, ThrotPct may show a limit of the grid permit. */
const throttled_by_limit = 1

function newerValues(points: PointsOf<701>): Partial<PcsValues> {
  const { ConnSt, ThrotSrc } = points
  const is_limited = ThrotSrc === null || (ThrotSrc & throttled_by_limit) !== 0
  return {
    ...derValues(points),
    state: pcsStateOf(stateFromInvSt(points.InvSt)),
    grid_mode: ConnSt === 1 ? 'on_grid' : ConnSt === 0 ? 'off_grid' : null,
    energy_injected_total_kwh: kilo(points.TotWhInj),
    energy_absorbed_total_kwh: kilo(points.TotWhAbs),
    igbt_temperature_c: points.TmpSw,
    ambient_temperature_c: points.TmpAmb,
    ac_breaker_closed: ConnSt === 0 || ConnSt === 1 ? ConnSt : null,
    throttle_pct: is_limited ? null : points.ThrotPct,
    throttle_source: ThrotSrc,
  }
}

const storage_port = 1

/** Sums over the ports with batteries; over all ports if none is marked. */
function dcValues(snapshot: Snapshot): Partial<PcsValues> {
  const [dc] = snapshot.all(714)
  if (!dc) return {}
  const storage = dc.groups.filter(({ PrtTyp }) => PrtTyp === storage_port)
  if (storage.length === 0) {
    const { DCA, DCW } = dc.values
    return {
      dc_current_a: DCA,
      dc_power_kw: kilo(DCW),
      dc_voltage_v: dc.groups[0]?.DCV ?? null,
    }
  }
  return {
    dc_current_a: sum(storage.map(({ DCA }) => DCA)),
    dc_power_kw: kilo(sum(storage.map(({ DCW }) => DCW))),
    dc_voltage_v: storage[0]?.DCV ?? null,
  }
}

/** DC side of the older models, if 714 has no values. */
function withClassicDc(values: PcsValues, points: PointsOf<103 | 113> | undefined): PcsValues {
  if (!points || values.dc_voltage_v !== null || values.dc_power_kw !== null) return values
  const { DCA, DCV, DCW } = points
  return { ...values, dc_current_a: DCA, dc_voltage_v: DCV, dc_power_kw: kilo(DCW) }
}

/** Ratings only: settings may equal its share of the grid permit. */
function ratingValues(snapshot: Snapshot): Partial<PcsValues> {
  const capacity = snapshot.all(702)[0]?.values
  const nameplate = snapshot.all(120)[0]?.values
  const discharge_w =
    capacity?.WDisChaRteMaxRtg ?? capacity?.WMaxRtg ?? nameplate?.MaxDisChaRte ?? nameplate?.WRtg
  const charge_w = capacity?.WChaRteMaxRtg ?? nameplate?.MaxChaRte
  return {
    max_discharge_power_kw: kilo(discharge_w ?? null),
    max_charge_power_kw: kilo(charge_w ?? null),
  }
}

const built: Range = [0, 100_000]

export function pcsRanges({ rated_power_kw }: Pcs): Record<string, Range> {
  const power: Range = [-4 * rated_power_kw, 4 * rated_power_kw]
  const names = ['ac_power_kw', 'reactive_power_kvar', 'apparent_power_kva', 'dc_power_kw']
  return {
    ...Object.fromEntries(names.map((name) => [name, power])),
    // The rating may be many times the used power.
    max_charge_power_kw: built,
    max_discharge_power_kw: built,
  }
}
