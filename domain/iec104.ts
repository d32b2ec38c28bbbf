/** The part of `site.yaml` for control centres that speak IEC 60870-5-104. */
import { type Static, Type } from 'typebox'
import { Closed, Percent } from './schema.ts'

/** A control centre: the addresses of its redundant connections, of which one carries data. */
export type ControlCentre = Static<typeof ControlCentre>
export const ControlCentre = Closed({
  /** Names the centre and its event buffer on disk. */
  group: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }),
  /** IP addresses and networks (`192.0.2.0/28`) that may connect. No others may. */
  allowed_addresses: Type.Array(Type.String({ pattern: '^[0-9a-fA-F.:]+(/[0-9]{1,3})?$' }), {
    minItems: 1,
    maxItems: 50,
  }),
  /** Who orders a limit by a setpoint of this centre. Defaults to `grid_operator`. */
  source: Type.Optional(Type.Enum(['grid_operator', 'direct_marketer'])),
  /** Limit once no connection has carried data for a time. Left out, the last order holds. */
  fallback: Type.Optional(
    Closed({
      /** Time without data transfer, s. */
      after_s: Type.Integer({ minimum: 10, maximum: 864_000 }),
      /** Limit in percent of rated power; 100 ends the order. */
      limit_pct: Percent,
    }),
  ),
})

/** Station that control centres connect to (IEC 60870-5-104, controlled station). */
export type Iec104 = Static<typeof Iec104>
export const Iec104 = Closed({
  /** Point list as CSV, by its path from the folder of `site.yaml`. */
  points: Type.String({ pattern: '^\\.{1,2}/.+\\.csv$', maxLength: 200 }),
  /** Common address of ASDUs. */
  common_address: Type.Integer({ minimum: 1, maximum: 65_534 }),
  /** Where the station listens. */
  listen: Closed({
    /** Address to listen on. Defaults to all. */
    host: Type.Optional(Type.String({ minLength: 1 })),
    /** TCP port; 2404 by the standard. */
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  }),
  /**
   * TLS with certificates of both sides (IEC 62351-3). Paths from the folder of `site.yaml`. Left
   * out, connections are not encrypted.
   */
  tls: Type.Optional(
    Closed({
      /** Private key of the station, PEM. */
      key_file: Type.String({ minLength: 1 }),
      /** Certificate of the station, PEM. */
      certificate_file: Type.String({ minLength: 1 }),
      /** Authorities of the control centres, PEM. */
      ca_file: Type.String({ minLength: 1 }),
    }),
  ),
  /** Control centres. */
  centres: Type.Array(ControlCentre, { minItems: 1, maxItems: 8 }),
  /** Most I frames sent without acknowledgement. Defaults to 12. */
  k: Type.Optional(Type.Integer({ minimum: 1, maximum: 32_767 })),
  /** I frames received until an acknowledgement is sent. Defaults to 8. */
  w: Type.Optional(Type.Integer({ minimum: 1, maximum: 32_767 })),
  /** Time for an acknowledgement to arrive. Defaults to 15. */
  t1_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
  /** Time after which received I frames are acknowledged. Defaults to 10; less than `t1_s`. */
  t2_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
  /** Silence after which a connection is tested. Defaults to 20. */
  t3_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 172_800 })),
  /** Time between select and execute of a command. Defaults to 10. */
  select_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
  /** Oldest time tag of a command that is executed. Defaults to no bound. */
  command_age_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
  /** Interval at which all measured values are sent, changed or not. Defaults to never. */
  background_scan_s: Type.Optional(Type.Integer({ minimum: 5, maximum: 86_400 })),
  /** Space for the events of each centre while it is away. Defaults to 256. */
  buffer_mb: Type.Optional(Type.Integer({ minimum: 16, maximum: 65_536 })),
})
