import fc from 'fast-check'

const surrogate_first = 0xd800
const surrogate_count = 0x800
const code_point_max = 0x10ffff

/**
 * Any code point but surrogates, as the unit of strings. The unit `binary` of fast-check draws the
 * same, and takes seconds to build a table of all of them.
 */
export const anyCharacter = fc
  .nat(code_point_max - surrogate_count)
  .map((nth) => String.fromCodePoint(nth < surrogate_first ? nth : nth + surrogate_count))
