/** The register writes of devices as a table: what was written when, and what it allows. */

export interface LoggedWrite {
  /** Unix ms. */
  at: number
  device: string
  /** Null: as the device was found. */
  address: number | null
  words: readonly number[]
  /** Highest power by the registers of the device from then on, W; null: unknown. */
  allowed_w: number | null
}

/** @param lines_max newest writes shown of each device */
export function writeTable(writes: readonly LoggedWrite[], lines_max: number): string {
  const [first] = writes
  if (!first) return 'no writes'
  const rows = [...Map.groupBy(writes, ({ device }) => device)].flatMap(([device, own]) => {
    const earlier = own.length - lines_max
    const note = earlier > 0 ? [[device, '', `${earlier} earlier writes`, '', '']] : []
    const shown = own.slice(-lines_max).map((write) => rowOf(write, first.at))
    return [...note, ...shown]
  })
  const table = [['device', 'after', 'register', 'words', 'allows'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function rowOf({ at, device, address, words, allowed_w }: LoggedWrite, from_at: number): string[] {
  return [
    device,
    `${((at - from_at) / 1000).toFixed(1)} s`,
    address === null ? 'as found' : String(address),
    words.join(' '),
    allowed_w === null ? '' : `${(allowed_w / 1000).toFixed(3)} kW`,
  ]
}
