/** Looks for figures of the permit in what leaves the edge. */
import { Broken } from './judge.ts'
import type { World } from './world.ts'

/** What is measured, or a time: such a figure may be any. */
const measured = new Set(['observed_power_kw', 'violation_s'])
/** Of fewer digits it could be a figure of anything. */
const mistakable_w = 10_000

export class PermitFigures {
  readonly #world: World
  #permits: ReadonlyMap<number, number> | null = null
  readonly #figures = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  /** @throws {Broken} where one is found */
  look(told: unknown): void {
    this.#gather()
    const text = JSON.stringify(told, (name, value) => (measured.has(name) ? null : value))
    const open = new Set(this.#world.rows.map(({ max_power_kw }) => String(max_power_kw)))
    for (const [figure] of text.matchAll(/\d+(\.\d+)?/g)) {
      if (!this.#figures.has(figure) || open.has(figure)) continue
      throw new Broken(`${figure} of the permit is told: ${text}`)
    }
  }

  /** Of each permit that was ever in force here, in watts and kilowatts. */
  #gather(): void {
    const { permit_w, site_w, plants, devices } = this.#world
    if (permit_w === this.#permits) return
    this.#permits = permit_w
    // What is no secret: what the plants and devices can do.
    const ratings = [
      ...plants.map(({ rated_w }) => rated_w),
      ...devices.map((d) => d.build.rated_w),
    ]
    const ceilings = plants.map((plant) =>
      plant.devices.reduce((sum, { build }) => sum + build.static_w, 0),
    )
    const open = new Set([...ratings, ...ceilings])
    for (const figure_w of [...permit_w.values(), site_w ?? 0]) {
      if (figure_w < mistakable_w || figure_w % 10 === 0 || open.has(figure_w)) continue
      this.#figures.add(String(figure_w))
      this.#figures.add(String(figure_w / 1000))
    }
  }
}
