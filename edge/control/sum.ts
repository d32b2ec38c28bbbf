/** The sum of numbers, or of what each comes to. */
export function sum(all: readonly number[]): number
export function sum<Of>(all: readonly Of[], of: (one: Of) => number): number
export function sum<Of>(all: readonly Of[], of: (one: Of) => number = Number): number {
  return all.reduce((total, one) => total + of(one), 0)
}
