/** Colours of reports. The colours of series are distinct for colour-blind readers too. */
export const ink = '#1f2a37'
export const muted = '#66727f'
export const rule = '#d7dde3'
export const hairline = '#e9edf0'
export const tint = '#f5f7f9'
export const accent = '#14507a'
export const caution = { bar: '#d98a00', tint: '#fdf6e7' }

/** Okabe and Ito, "Color Universal Design", without yellow, which is too light on paper. */
export const seriesColours = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#7a828a',
  '#1f2a37',
] as const

/**
 * Cividis, from low to high: its even lightness suits every kind of colour vision, and greyscale.
 * Nuñez, Anderton and Renslow (2018), PLoS ONE 13(7) e0199239.
 */
export const scaleColours = [
  '#00224e',
  '#123570',
  '#3b496c',
  '#575d6d',
  '#707173',
  '#8a8678',
  '#a59c74',
  '#c3b369',
  '#e1cc55',
  '#fee838',
] as const

/** Grades of a heat map from good to bad, as on the pages of the platform. */
export const gradeLooks = [
  { fill: '#a6cee3', ink: '#000000', sign: '' },
  { fill: '#f5e6a3', ink: '#000000', sign: '\u00b7' },
  { fill: '#f0a830', ink: '#000000', sign: '\u2013' },
  { fill: '#b5451b', ink: '#ffffff', sign: '!' },
  { fill: '#2b0b3f', ink: '#ffffff', sign: '\u00d7' },
] as const

/** Heat map cells without a value; not a colour of the scale. */
export const no_value = '#ffffff'
