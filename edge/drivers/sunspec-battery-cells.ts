/**
 * Cells of a battery: SunSpec model 805, one for each module. Each read is of the next cluster, so
 * that thousands of cells do not block the bus.
 */
import { type Battery, type ClusterUnit, cellIndex } from '@heliograph/domain/battery'
import type { Bus, CellsAnswer, Device } from './driver.ts'
import { plausible, type Range } from './plausible.ts'
import { indexOf, milli, modelsOf } from './sunspec-battery.ts'
import { type Member, openUnits } from './sunspec-battery-units.ts'
import { type Chain, readIfThere } from './sunspec-chain.ts'
import type { FoundModel } from './sunspec-snapshot.ts'
import { createReader, type Snapshot } from './sunspec-snapshot.ts'

type Reader = () => Promise<Snapshot>
/** Readers of the modules of each cluster of a unit, by `cluster_idx`. */
type Readers = ReadonlyMap<number, Reader>

const ranges: Readonly<Record<string, Range>> = {
  cell_voltage_mv: [0, 10_000],
  cell_temperature_c: [-60, 250],
  module_voltage_v: [0, 3000],
  module_soc_pct: [0, 110],
  module_soh_pct: [0, 150],
}

/** Rejects if no unit answers or none has cells. */
export async function openCells(bus: Bus, battery: Battery): Promise<Device<CellsAnswer>> {
  const units = await openUnits(bus, battery, (chain, at) => readersOf(bus, battery, { chain, at }))
  let last_idx = -1
  return {
    get identity() {
      return units.identity
    },
    async read() {
      const { snapshot, cluster_idx } = await readNext(units.members, last_idx)
      last_idx = cluster_idx
      const { complaints, missing } = snapshot
      const values = plausible(cellsOf(snapshot, battery), complaints, ranges)
      return { values: { ...values, cluster_idx }, complaints, missing }
    },
  }
}

/** Each model tells its module and cluster; it is read once for this. */
async function readersOf(
  bus: Bus,
  battery: Battery,
  { chain, at }: { chain: Chain; at: ClusterUnit },
): Promise<Readers> {
  modelsOf(chain, [805], battery)
  const { unit_id, first_cluster_idx } = at
  const modules = new Map<number, FoundModel[]>()
  for (const found of chain.models.filter(({ model_id }) => model_id === 805)) {
    const [StrIdx] = (await readIfThere(bus, unit_id, found.address + 2)) ?? []
    const index = indexOf(StrIdx ?? null)
    const cluster_idx = index === null ? null : first_cluster_idx + index
    if (cluster_idx === null || cluster_idx >= battery.cluster_count) continue
    modules.set(cluster_idx, [...(modules.get(cluster_idx) ?? []), found])
  }
  return new Map(
    [...modules].map(([cluster_idx, wanted]) => [
      cluster_idx,
      createReader(bus, unit_id, { wanted }),
    ]),
  )
}

/** The first cluster after `last_idx`, cyclically, whose unit answers. */
async function readNext(members: readonly Member<Readers>[], last_idx: number) {
  const turns: { cluster_idx: number; member: Member<Readers> }[] = []
  let failure: unknown = new Error('no unit tells of cells of this battery')
  const silent = new Set<Member<Readers>>()
  for (const member of members) {
    try {
      const unit = await member.unit()
      const indices = await unit.ask(async (readers) => [...readers.keys()])
      for (const cluster_idx of indices) turns.push({ cluster_idx, member })
    } catch (error) {
      failure = error
    }
  }
  const isNext = ({ cluster_idx }: { cluster_idx: number }) => Number(cluster_idx <= last_idx)
  turns.sort((a, b) => isNext(a) - isNext(b) || a.cluster_idx - b.cluster_idx)
  for (const { cluster_idx, member } of turns) {
    if (silent.has(member)) continue
    try {
      const unit = await member.unit()
      const snapshot = await unit.ask(
        (readers) => readers.get(cluster_idx)?.() ?? gone(cluster_idx),
      )
      return { snapshot, cluster_idx }
    } catch (error) {
      failure = error
      silent.add(member)
    }
  }
  throw failure
}

/** @throws if the unit was set up anew between two readings */
function gone(cluster_idx: number): never {
  throw new Error(`cluster ${cluster_idx} is not there any more`)
}

function cellsOf(snapshot: Snapshot, battery: Battery): Omit<CellsAnswer, 'cluster_idx'> {
  const { modules_per_cluster, cells_per_module } = battery
  const { temperature_sensors_per_module = cells_per_module } = battery
  const blank = (count: number) => new Array<number | null>(modules_per_cluster * count).fill(null)
  const cells = {
    cell_voltage_mv: blank(cells_per_module),
    cell_temperature_c: blank(temperature_sensors_per_module),
    cell_balancing: blank(cells_per_module),
    module_voltage_v: blank(1),
    module_soc_pct: blank(1),
    module_soh_pct: blank(1),
  }
  for (const { values, groups } of snapshot.all(805)) {
    const module_idx = indexOf(values.ModIdx)
    if (module_idx === null || module_idx >= modules_per_cluster) continue
    cells.module_voltage_v[module_idx] = values.V
    cells.module_soc_pct[module_idx] = values.SoC
    cells.module_soh_pct[module_idx] = values.SoH
    for (const [cell, { CellV, CellSt }] of groups.slice(0, cells_per_module).entries()) {
      const at = cellIndex(battery, module_idx, cell)
      cells.cell_voltage_mv[at] = milli(CellV)
      cells.cell_balancing[at] = CellSt === null ? null : CellSt & 1
    }
    const temperatures = sensorsOf(
      groups.map(({ CellTmp }) => CellTmp),
      temperature_sensors_per_module,
    )
    for (const [sensor, temperature] of temperatures.entries()) {
      cells.cell_temperature_c[module_idx * temperature_sensors_per_module + sensor] = temperature
    }
  }
  return cells
}

/**
 * Temperatures of `count` sensors from one value per cell: the reported ones if their number
 * matches, otherwise those of evenly spaced cells, as cells that share a sensor report the same.
 */
function sensorsOf(of_cells: readonly (number | null)[], count: number): (number | null)[] {
  const told = of_cells.filter((value) => value !== null)
  if (told.length === count) return told
  return Array.from(
    { length: count },
    (_, sensor) => of_cells[Math.floor((sensor * of_cells.length) / count)] ?? null,
  )
}
