/**
 * The typeface of PDF reports and charts: Roboto, with Latin, Greek and Cyrillic. It lacks Hebrew,
 * Arabic, Chinese, Japanese, Korean, emoji and arrows, which are shown as U+FFFD.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { create, type Font } from 'fontkit'

const folder = join(dirname(createRequire(import.meta.url).resolve('pdfmake')), '../fonts/Roboto')

/** Files by style, in the form of pdfmake. */
export const typeface = {
  normal: join(folder, 'Roboto-Regular.ttf'),
  bold: join(folder, 'Roboto-Medium.ttf'),
  italics: join(folder, 'Roboto-Italic.ttf'),
  bolditalics: join(folder, 'Roboto-MediumItalic.ttf'),
}

interface TypeSize {
  size_pt: number
  bold?: boolean
}

const normal = create(readFileSync(typeface.normal)) as Font
const bold = create(readFileSync(typeface.bold)) as Font
const advances = { normal: new Map<string, number>(), bold: new Map<string, number>() }
/** Zero-width space: a place where a line may end. */
const break_here = '\u200b'

/** Width without kerning, which only makes text narrower. */
export function widthOf(text: string, { size_pt, bold: is_bold = false }: TypeSize): number {
  const [font, known] = is_bold ? [bold, advances.bold] : [normal, advances.normal]
  let units = 0
  for (const character of text) {
    let advance = known.get(character)
    if (advance === undefined) {
      advance = font.glyphForCodePoint(character.codePointAt(0)!).advanceWidth
      known.set(character, advance)
    }
    units += advance
  }
  return (units / font.unitsPerEm) * size_pt
}

/**
 * Printable text: composed, without control characters except line ends, and with one U+FFFD for
 * each run of characters that the typeface lacks. Cut to `length_max` UTF-16 units.
 */
export function settable(text: string, length_max = Number.POSITIVE_INFINITY): string {
  if (text.length > length_max) return `${settable(text.slice(0, length_max - 1)).trimEnd()}\u2026`
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, (character) => (character === '\n' ? character : ''))
    .replace(/[^\n]/gu, (character) => (has(character) ? character : '\ufffd'))
    .replace(/\ufffd+/g, '\ufffd')
}

export const oneLine = (text: string, length_max?: number): string =>
  settable(text, length_max).replaceAll('\n', ' ').trim()

const has = (character: string): boolean => normal.hasGlyphForCodePoint(character.codePointAt(0)!)

/** Adds places to break to words that are wider than `width_pt`. */
export function breakable(text: string, width_pt: number, type: TypeSize): string {
  if (widthOf(text, type) <= width_pt) return text
  return text.replace(/[^\s\u200b]+/g, (word) => {
    if (widthOf(word, type) <= width_pt) return word
    let broken = ''
    let width = 0
    for (const character of word) {
      const advance = widthOf(character, type)
      if (width + advance > width_pt) {
        broken += break_here
        width = 0
      }
      broken += character
      width += advance
    }
    return broken
  })
}

/** Cut to `width_pt`, with an ellipsis. */
export function fitted(text: string, width_pt: number, type: TypeSize): string {
  if (widthOf(text, type) <= width_pt) return text
  const characters = [...text]
  while (characters.length > 1 && widthOf(`${characters.join('')}\u2026`, type) > width_pt) {
    characters.pop()
  }
  return `${characters.join('').trimEnd()}\u2026`
}
