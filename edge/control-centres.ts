/**
 * The station for control centres of `site.yaml`, opened anew when the site file is another. Its
 * code is loaded where a site has one.
 */
import type { ReadingKind, ReadingOf } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import type { Station, StationNeeds } from './iec104/station.ts'

interface ControlCentresNeeds extends Omit<StationNeeds, 'newest'> {
  /** The text of a file beside `site.yaml`, as it was accepted. */
  textOf(path: string): string
}

/** Readings that points are made of, and the column that names their device. */
const kinds = {
  logger: 'logger_id',
  meter: 'meter_id',
  weather: 'station_id',
  bess: 'bess_id',
  node: 'node_number',
} as const satisfies Partial<Record<ReadingKind, string>>

type Newest = Readonly<Record<string, unknown>> & { measured_at: number }

export class ControlCentres {
  readonly #needs: ControlCentresNeeds
  readonly #newest = new Map<string, Newest>()
  #station: Station | null = null

  constructor(needs: ControlCentresNeeds) {
    this.#needs = needs
  }

  /** TCP port of the station; null: there is none, or it does not listen. */
  get port(): number | null {
    return this.#station?.port ?? null
  }

  /** One call at a time. */
  async apply(site: Site): Promise<void> {
    await this.#station?.close()
    this.#station = null
    const { iec104 } = site
    if (!iec104) return
    const { Station } = await import('./iec104/station.ts')
    const newest: StationNeeds['newest'] = (kind, id) => this.#newest.get(`${kind} ${id}`) ?? null
    const points = this.#needs.textOf(iec104.points)
    this.#station = await Station.open({ ...this.#needs, newest }, { ...site, iec104 }, points)
  }

  onReading<Kind extends ReadingKind>(kind: Kind, reading: ReadingOf[Kind]): void {
    const id_column = kinds[kind as keyof typeof kinds] as string | undefined
    if (!this.#station || id_column === undefined) return
    const newest = reading as unknown as Newest
    this.#newest.set(`${kind} ${newest[id_column]}`, newest)
  }

  async close(): Promise<void> {
    await this.#station?.close()
    this.#station = null
  }
}
