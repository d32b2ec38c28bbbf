/** Writable registers of a simulated SunSpec inverter: models 121, 123, 702, 704. */
import type { Inverter } from '@heliograph/domain/site'
import { encode } from '@heliograph/domain/sunspec/codec'
import { models } from '@heliograph/domain/sunspec/models'
import type { LimitState, Told } from '../limits.ts'
import { flag } from './sunspec-unit.ts'
import { Refusal } from './unit.ts'

const percent_scale = { 123: -1, 704: -2 } as const

/** An inverter with "704" in its `model` of site.yaml has models 702 and 704 for 121 and 123. */
export const hasModel704 = ({ model }: Inverter) => model?.includes('704') ?? false

export function controls121(state: LimitState, power_scale: number, nominal_v: number) {
  return encode(models[121], {
    values: { WMax: state.max_w, WMax_SF: power_scale, VRef: nominal_v, VRef_SF: 0 },
  })
}

export function controls123(state: LimitState): Uint16Array {
  return encode(models[123], {
    values: {
      Conn: 1,
      WMaxLimPct: state.limit_pct,
      WMaxLimPct_SF: percent_scale[123],
      WMaxLimPct_RvrtTms: state.revert_s,
      WMaxLim_Ena: state.is_enabled ? 1 : 0,
    },
  })
}

export function controls702(state: LimitState, power_scale: number): Uint16Array {
  const { rated_w: WMaxRtg, max_w: WMax } = state
  return encode(models[702], { values: { WMaxRtg, WMax, W_SF: power_scale } })
}

export function controls704(state: LimitState, now_ms: number): Uint16Array {
  const { reverts_at_ms } = state
  const left_s = reverts_at_ms === null ? 0 : Math.ceil((reverts_at_ms - now_ms) / 1000)
  return encode(models[704], {
    values: {
      WMaxLimPctEna: state.is_enabled ? 1 : 0,
      WMaxLimPct: state.limit_pct,
      WMaxLimPctRvrt: state.revert_pct,
      WMaxLimPctEnaRvrt: state.revert_enabled ? 1 : 0,
      WMaxLimPctRvrtTms: state.revert_s,
      WMaxLimPctRvrtRem: Math.max(0, left_s),
      WMaxLimPct_SF: percent_scale[704],
      WSetEna: 0,
    },
  })
}

type Take = (word: number, state: LimitState, power_step_w: number) => Partial<Told>

function percentOf(model_id: 123 | 704, word: number): number {
  const percent = word / 10 ** -percent_scale[model_id]
  if (percent > 100) throw new Refusal('illegal data value')
  return percent
}

const takeMax: Take = (word, { rated_w }, power_step_w) => {
  const max_w = word * power_step_w
  if (max_w <= 0 || max_w > rated_w) throw new Refusal('illegal data value')
  return { max_w }
}

/** By model and offset. All others are read-only. */
export const writable: Readonly<Record<string, Take>> = {
  '121.2': takeMax,
  '123.5': (word) => ({ limit_pct: percentOf(123, word) }),
  '123.7': (revert_s) => ({ revert_s }),
  '123.9': (word) => ({ is_enabled: flag(word) }),
  '702.26': takeMax,
  '704.14': (word) => ({ is_enabled: flag(word) }),
  '704.15': (word) => ({ limit_pct: percentOf(704, word) }),
  '704.16': (word) => ({ revert_pct: percentOf(704, word) }),
  '704.17': (word) => ({ revert_enabled: flag(word) }),
  '704.18': (word, { revert_s }) => ({ revert_s: word * 65_536 + (revert_s % 65_536) }),
  '704.19': (word, { revert_s }) => ({ revert_s: revert_s - (revert_s % 65_536) + word }),
}
