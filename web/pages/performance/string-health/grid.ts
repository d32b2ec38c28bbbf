import type { StringHealth } from '@heliograph/sdk'
import { looks } from './looks.ts'

export interface Place {
  row: number
  column: number
}

export interface Grid {
  rows: { name: string; strings: (StringHealth | undefined)[] }[]
  columns: number[]
}

export const head_px = 22

export function gridOf(strings: readonly StringHealth[]): Grid {
  const rows = new Map<number, Grid['rows'][number]>()
  let last = -1
  for (const string of strings) {
    let row = rows.get(string.inverter_id)
    if (!row) {
      row = { name: string.inverter_name, strings: [] }
      rows.set(string.inverter_id, row)
    }
    row.strings[string.string_index] = string
    if (string.string_index > last) last = string.string_index
  }
  return { rows: [...rows.values()], columns: Array.from({ length: last + 1 }, (_, nth) => nth) }
}

export interface Size {
  cell_width: number
  cell_height: number
  names_px: number
  width: number
  height: number
}

/** A few columns fill the width; many rows get lower cells. */
export function sizeOf({ rows, columns }: Grid, width: number): Size {
  const longest = rows.reduce((most, { name }) => Math.max(most, name.length), 4)
  const names_px = Math.min(140, longest * 7.5 + 12)
  const room = Math.max(0, width - names_px - 16)
  const cell_width = Math.max(24, Math.min(64, Math.floor(room / Math.max(1, columns.length))))
  const cell_height = rows.length > 40 ? 14 : 26
  return {
    cell_width,
    cell_height,
    names_px,
    width: names_px + columns.length * cell_width,
    height: head_px + rows.length * cell_height + 16,
  }
}

export function cellAt(
  { rows, columns }: Grid,
  size: Size,
  at: { x: number; y: number },
  left: number,
  top: number,
): Place | null {
  if (at.x < size.names_px || at.y < head_px) return null
  const column = Math.floor((at.x + left - size.names_px) / size.cell_width)
  const row = Math.floor((at.y + top - head_px) / size.cell_height)
  return row < rows.length && column < columns.length ? { row, column } : null
}

interface Drawing {
  grid: Grid
  size: Size
  place: Place | null
  scheme: 'light' | 'dark'
  width: number
  height: number
  left: number
  top: number
}

export function drawMap(canvas: HTMLCanvasElement, drawing: Drawing): void {
  const { grid, size, place, scheme, width, height, left, top } = drawing
  const ratio = window.devicePixelRatio || 1
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  const pen = canvas.getContext('2d')
  if (!pen) return
  pen.scale(ratio, ratio)
  pen.textBaseline = 'middle'
  const { cell_width, cell_height, names_px } = size
  const text = scheme === 'dark' ? '#c9c9c9' : '#212529'
  const first = { row: Math.floor(top / cell_height), column: Math.floor(left / cell_width) }
  const end_row = Math.min(grid.rows.length, Math.ceil((top + height) / cell_height))
  const end_column = Math.min(grid.columns.length, Math.ceil((left + width) / cell_width))
  pen.save()
  pen.beginPath()
  pen.rect(names_px, head_px, width, height)
  pen.clip()
  for (let row = first.row; row < end_row; row++) {
    const y = head_px + row * cell_height - top
    for (let column = first.column; column < end_column; column++) {
      const string = grid.rows[row]?.strings[column]
      if (string) drawCell(pen, string, names_px + column * cell_width - left, y, size)
    }
  }
  if (place) {
    pen.strokeStyle = text
    pen.lineWidth = 3
    const x = names_px + place.column * cell_width - left
    pen.strokeRect(
      x + 1,
      head_px + place.row * cell_height - top + 1,
      cell_width - 3,
      cell_height - 3,
    )
  }
  pen.restore()
  pen.fillStyle = text
  pen.font = `${cell_height < 20 ? 11 : 12}px system-ui, sans-serif`
  drawNames(pen, drawing, { ...first, end_row, end_column })
}

function drawCell(
  pen: CanvasRenderingContext2D,
  string: StringHealth,
  x: number,
  y: number,
  { cell_width, cell_height }: Size,
) {
  const { fill, ink, sign } = looks[string.status] ?? looks.no_data
  pen.fillStyle = fill
  pen.fillRect(x, y, cell_width - 1, cell_height - 1)
  if (!sign) return
  pen.fillStyle = ink
  pen.font = `bold ${Math.min(15, cell_height - 1)}px system-ui, sans-serif`
  pen.textAlign = 'center'
  pen.fillText(sign, x + cell_width / 2, y + cell_height / 2)
}

function drawNames(
  pen: CanvasRenderingContext2D,
  { grid, size, left, top }: Drawing,
  seen: { row: number; column: number; end_row: number; end_column: number },
) {
  const { cell_width, cell_height, names_px } = size
  pen.textAlign = 'center'
  for (let column = seen.column; column < seen.end_column; column++) {
    const x = names_px + column * cell_width - left
    if (x >= names_px - 1) pen.fillText(String(column), x + cell_width / 2, head_px / 2)
  }
  pen.textAlign = 'left'
  for (let row = seen.row; row < seen.end_row; row++) {
    const y = head_px + row * cell_height - top
    const name = grid.rows[row]?.name ?? ''
    if (y >= head_px - 1) pen.fillText(name, 2, y + cell_height / 2, names_px - 6)
  }
}
