/** The part of `site.yaml` for a ripple control receiver: relay contacts that order limits. */
import { type Static, Type } from 'typebox'
import { Closed, Percent } from './schema.ts'

/** Contacts of a ripple control receiver, read from one register of a Modbus I/O module. */
export type RelayInputs = Static<typeof RelayInputs>
export const RelayInputs = Closed({
  connection: Type.String({ minLength: 1 }),
  unit_id: Type.Integer({ minimum: 0, maximum: 255 }),
  /** Table of the register: input registers (function 4) or holding registers (function 3). */
  table: Type.Enum(['input', 'holding']),
  /** Register with one bit for each contact. */
  register: Type.Integer({ minimum: 0, maximum: 65_535 }),
  /** Contacts, with the limit that each orders. With several closed, the lowest holds. */
  inputs: Type.Array(
    Closed({
      /** Bit of the register, 0 for the lowest. */
      bit: Type.Integer({ minimum: 0, maximum: 15 }),
      /** Limit in percent of rated power while the contact is closed; 100 for none. */
      limit_pct: Percent,
    }),
    { minItems: 1, maxItems: 16 },
  ),
  /** True for contacts whose bit is 0 while they are closed. Defaults to false. */
  inverted: Type.Optional(Type.Boolean()),
  /** Limit while no contact is closed. Defaults to 100. */
  open_limit_pct: Type.Optional(Percent),
  /** Limit while the module has not answered for a time. Left out, the last order holds. */
  fallback: Type.Optional(
    Closed({
      /** Time without an answer, s. */
      after_s: Type.Integer({ minimum: 5, maximum: 864_000 }),
      limit_pct: Percent,
    }),
  ),
})
