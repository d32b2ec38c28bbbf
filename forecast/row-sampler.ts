/** Random rows and columns for trees. Positions ascend, for sequential memory access. */

/** About `share` of the rows, at least one, each with equal probability and at most once. */
export function drawShare(rows: number, share: number, random: () => number): Int32Array {
  const wanted = Math.max(1, Math.round(rows * share))
  const drawn = new Int32Array(wanted)
  if (wanted >= rows) return drawn.map((_, row) => row)
  // Selection sampling: D. E. Knuth, "The Art of Computer Programming" 2, algorithm 3.4.2 S.
  for (let row = 0, taken = 0; taken < wanted; row++) {
    if ((rows - row) * random() < wanted - taken) {
      drawn[taken] = row
      taken += 1
    }
  }
  return drawn
}

/** As many rows as there are, drawn with replacement. */
export function drawAgain(rows: number, random: () => number): Int32Array {
  return new Int32Array(rows).map(() => Math.floor(random() * rows)).sort()
}
