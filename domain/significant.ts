/**
 * A computed quantity without the digits that nobody measured: sums and products of binary
 * fractions end in noise (0.1 + 0.2), nine significant digits outlast every instrument.
 */
export const significant = (value: number): number => Number(value.toPrecision(9))
